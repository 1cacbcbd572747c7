import { Failure, usage } from '../../core/failure.ts';
import { kinds, type ChatProfile, type Kind, type LicensingProfile, type Profile } from '../../schema/profile.ts';
import type { ProfileSource } from './profile.ts';

type ProfileOf<K extends Kind> = K extends 'licensing' ? LicensingProfile : ChatProfile;

/**
 * The profile of that name and kind.
 * @throws Failure config when there is none, or it is of the other kind
 */
export async function profileNamed<K extends Kind>(
  profiles: ProfileSource,
  name: string,
  kind: K,
): Promise<ProfileOf<K>> {
  const profile = await profiles.find(name);
  if (isOfKind(profile, kind)) return profile;
  if (profile) {
    throw new Failure('config', `profile '${name}' is a ${kinds[profile.kind]}; this command needs a ${kinds[kind]}`, {
      hint: `Name another profile; chatelaine auth list shows them.`,
    });
  }
  throw new Failure('config', `there is no profile '${name}'`, { hint: 'chatelaine auth list shows what is stored.' });
}

function isOfKind<K extends Kind>(profile: Profile | undefined, kind: K): profile is ProfileOf<K> {
  return profile?.kind === kind;
}

/**
 * The stored app of that code.
 * @throws Failure config when there is none, usage when there are several
 */
export async function appOf(profiles: ProfileSource, code: number): Promise<LicensingProfile> {
  const apps = (await profiles.all()).filter((profile) => profile.kind === 'licensing');
  const [app, ...others] = apps.filter((profile) => profile.app_code === code);
  if (!app) {
    const codes = apps.map((profile) => profile.app_code).join(', ');
    throw new Failure('config', `no stored app has the code ${code}${codes === '' ? '' : ` (stored are ${codes})`}`, {
      hint: `Sign in to it: chatelaine auth login licensing --base-url URL --app-code ${code}`,
    });
  }
  if (others.length === 0) return app;
  const names = [app, ...others].map((profile) => profile.name).join(', ');
  throw usage(`several stored apps have the code ${code}: ${names}`, 'Choose one with --profile NAME.');
}

const signIn = {
  licensing: 'chatelaine auth login licensing --base-url URL --app-code C',
  chat: 'chatelaine auth login chat --site URL --email E',
} as const satisfies Record<Kind, string>;

/**
 * The default profile of a kind.
 * @throws Failure config when none is stored, or none is the default
 */
export async function defaultOf<K extends Kind>(profiles: ProfileSource, kind: K): Promise<ProfileOf<K>> {
  const name = (await profiles.defaults())[kind];
  if (name !== undefined) return profileNamed(profiles, name, kind);
  const stored = (await profiles.all()).filter((profile) => profile.kind === kind).map((profile) => profile.name);
  if (stored.length > 0) {
    throw new Failure('config', `no ${kinds[kind]} is the default`, {
      hint: `Choose one with --profile NAME or chatelaine auth use NAME: ${stored.join(', ')}`,
    });
  }
  throw new Failure('config', `no ${kinds[kind]} is signed in`, {
    hint: `Sign in with: ${signIn[kind]} (or try it out first: --sandbox)`,
  });
}
