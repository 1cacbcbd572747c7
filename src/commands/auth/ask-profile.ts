import { Failure, usage } from '../../core/failure.ts';
import { readField } from '../../schema/field.ts';
import { licenseFields } from '../../schema/license.ts';
import { readEmail, type Kind, type Profile } from '../../store/account/profile.ts';
import { readBaseUrl, readSite } from '../../store/account/url.ts';
import type { Accounts } from '../context/accounts.ts';
import type { Terminal } from '../context/terminal.ts';

/** What identifies a credential: typed as options, or asked for. */
export interface ProfileOptions {
  readonly base_url?: string;
  readonly app_code?: number;
  readonly site?: string;
  readonly email?: string;
}

type Person = Pick<Accounts, 'profiles'> & Terminal;

/**
 * What a credential is for, asked for on a terminal.
 * @throws Failure usage where nobody can be asked
 */
export async function askKind(person: Person): Promise<Kind> {
  if (!person.interactive()) throw usage('kind is required: licensing or chat', 'See chatelaine auth login --help.');
  const choice = { kind: 'string', choices: ['licensing', 'chat'], help: '' } as const;
  const read = (text: string): Kind =>
    readField(
      'kind',
      choice,
      choice.choices.find((name) => text !== '' && name.startsWith(text.toLowerCase())) ?? text,
    );
  return answer('What is the key for: licensing or chat?', undefined, read, person);
}

/**
 * The options with those that are missing, asked for on a terminal; the URL that was stored last is offered.
 * @throws Failure usage where nobody can be asked
 */
export async function askMissing<O extends ProfileOptions>(kind: Kind, options: O, person: Person): Promise<O> {
  if (!person.interactive()) return options;
  const stored = (await person.profiles().all()).filter((profile) => profile.kind === kind);
  const last = stored.map(urlOf).at(-1);
  const { base_url, app_code, site, email } = options;
  if (kind === 'licensing') {
    return {
      ...options,
      base_url: base_url ?? (await answer('URL of the licensing API:', last, readBaseUrl, person)),
      app_code: app_code ?? (await answer('Code of the application:', undefined, readAppCode, person)),
    };
  }
  return {
    ...options,
    site: site ?? (await answer('URL of the chat organization:', last, readSite, person)),
    email: email ?? (await answer('E-mail address of the account:', undefined, readEmail, person)),
  };
}

/** Where a profile sends its key. */
export function urlOf(profile: Profile): string {
  return profile.kind === 'licensing' ? profile.base_url : profile.site;
}

function readAppCode(text: string): number {
  return readField('code', licenseFields.app_code, text);
}

const mostTries = 3;

/** Asks again where the answer cannot be right. */
async function answer<T>(
  question: string,
  offered: string | undefined,
  read: (text: string) => T,
  { ask, note }: Person,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const text = (await ask(offered === undefined ? question : `${question} [${offered}]`)).trim();
    try {
      return read(text === '' ? (offered ?? text) : text);
    } catch (cause) {
      if (!(cause instanceof Failure) || tries === mostTries) throw cause;
      note([cause.message, cause.details.hint].filter((line) => line !== undefined).join('\n'));
    }
  }
}
