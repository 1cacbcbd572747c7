import { defined } from '../../core/defined.ts';
import { usage } from '../../core/failure.ts';
import { readEmail, readProfileName, type Profile } from '../../store/account/profile.ts';
import { readBaseUrl, readSite } from '../../store/account/url.ts';
import { readLedgerUrl } from '../../store/ledger/ledger-url.ts';
import { licenseFields } from '../../schema/license.ts';
import { command } from '../command.ts';
import { hostName, readKey } from './account.ts';
import { askKind, askMissing, type ProfileOptions } from './ask-profile.ts';
import { inPlaceOf, storeProfile } from './store-profile.ts';

const text = (placeholder: string, help: string) => ({ kind: 'string', nonempty: true, placeholder, help }) as const;

export default command({
  name: 'auth login',
  summary: 'Store a credential',
  about: [
    'A profile is one credential: an application of the licensing API, or an account of the chat. The first profile of a kind becomes ' +
      'its default; auth use changes that.',
    'On a terminal everything that is not typed is asked for. A profile of the same name keeps read_only, mac_format, key_field and ledger ' +
      'unless they are typed; one of another account is replaced only when you agree, or with --yes.',
    'The key is asked for without being shown, or comes from standard input, a file, or a command that is run at each use; no option ' +
      'takes the key itself. It is tried before anything is stored.',
    'Key commands of usual managers: pass show chatelaine/prod; secret-tool lookup service chatelaine account prod; ' +
      'op read op://vault/chatelaine/key. No shell runs them: quotes are understood, nothing is expanded.',
  ],
  args: {
    kind: {
      kind: 'string',
      choices: ['licensing', 'chat'],
      placeholder: 'licensing|chat',
      help: 'What the credential is for (on a terminal it is asked for)',
    },
  },
  options: {
    base_url: text('URL', 'Licensing: URL of the API, without /v1'),
    app_code: { ...licenseFields.app_code, required: false, help: 'Licensing: code of the application' },
    site: text('URL', 'Chat: URL of the organization'),
    email: text('E-MAIL', 'Chat: address of the account'),
    name: text('NAME', 'Name of the profile (default: app-CODE, or the host of the site)'),
    api_key_stdin: { kind: 'boolean', help: 'Read the key from standard input' },
    api_key_file: text('FILE', 'Read the key from the first line of a file that nobody else can read'),
    key_command: text('COMMAND', 'Run this command at each use; the first line it prints is the key'),
    key_field: text(
      'FIELD',
      "Licensing: the field of the server's answers that holds the license key (default: found by itself)",
    ),
    ledger: {
      kind: 'string',
      placeholder: 'URL',
      help: 'Licensing: postgres: URL of a ledger that several machines share, see ledger init; an empty one removes it',
    },
    read_only: { kind: 'boolean', negatable: true, help: 'Refuse every write with this profile' },
    check: { kind: 'boolean', negatable: true, help: 'Try the key before it is stored (default: yes)' },
  },
  examples: [
    'chatelaine auth login licensing --base-url https://licenses.example.com --app-code 4711 --key-command "pass show chatelaine/prod"',
    'chatelaine auth login chat --site https://chat.example.com --email ada@example.com --api-key-stdin',
  ],

  plans: true,

  async run({ kind, check, api_key_stdin, api_key_file, key_command, ...fields }, context) {
    const chosen = kind ?? (await askKind(context));
    refuseForeign(chosen, fields);
    const named = profileOf(chosen, await askMissing(chosen, fields, context));
    const kept = await inPlaceOf({ ...named, ...defined({ key_command }) }, context);
    const profile = fields.ledger === '' ? withoutLedger(kept) : kept;
    const key = await readKey(defined({ api_key_stdin, api_key_file, key_command }), context);
    return storeProfile(profile, key, check, context);
  },

  show: { columns: ['profile', 'kind', 'status'], line: ({ profile, status }) => `Profile ${profile}: ${status}` },
});

interface LoginFields extends ProfileOptions {
  readonly name?: string;
  readonly key_field?: string;
  readonly ledger?: string;
  readonly read_only?: boolean;
}

function profileOf(kind: 'licensing' | 'chat', fields: LoginFields): Profile {
  const { base_url, app_code, site, email, name, key_field } = fields;
  const ledger = fields.ledger === undefined || fields.ledger === '' ? undefined : readLedgerUrl(fields.ledger);
  const shared = defined({ read_only: fields.read_only });
  if (kind === 'licensing') {
    if (base_url === undefined || app_code === undefined)
      throw usage('auth login licensing needs --base-url and --app-code');
    const named = readProfileName(name ?? `app-${app_code}`);
    return {
      kind,
      name: named,
      base_url: readBaseUrl(base_url),
      app_code,
      ...defined({ key_field, ledger }),
      ...shared,
    };
  }
  if (site === undefined || email === undefined) throw usage('auth login chat needs --site and --email');
  const url = readSite(site);
  return { kind, name: readProfileName(name ?? hostName(url)), site: url, email: readEmail(email), ...shared };
}

/** An empty URL takes away the ledger that the stored profile has. */
function withoutLedger(profile: Profile): Profile {
  if (profile.kind !== 'licensing') return profile;
  const { ledger: _, ...others } = profile;
  return others;
}

function refuseForeign(
  kind: 'licensing' | 'chat',
  { base_url, app_code, key_field, ledger, site, email }: LoginFields,
): void {
  if (kind === 'licensing') refuse({ site, email }, kind);
  else refuse({ base_url, app_code, key_field, ledger }, kind);
}

function refuse(foreign: Readonly<Record<string, unknown>>, kind: string): void {
  const names = Object.entries(foreign).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name.replaceAll('_', '-')}`],
  );
  if (names.length > 0) throw usage(`auth login ${kind} does not take ${names.join(', ')}`);
}
