import { usage } from '../core/failure.ts';
import { textField, type Field, type Values, flagField } from './field.ts';
import { readLedgerUrl } from './ledger-url.ts';
import { licenseFields } from './license.ts';
import { readBaseUrl, readSite, refuseQuoted } from './url.ts';

/** A row of a profile. Options, checks, files, credentials, variables and headers are loops over the rows. */
export type ProfileField = Field & {
  /** Help of the variable that gives the value to a credential of the environment; it is named by `variableOf`. */
  readonly environment?: string;
  /** The variable means something without the others, so that it neither begins nor completes a credential. */
  readonly alone?: true;
};

type ProfileFields = Readonly<Record<string, ProfileField>>;

export const kinds = { licensing: 'licensing app', chat: 'chat account' } as const;

export type Kind = keyof typeof kinds;

export const signIn = {
  licensing: 'chatelaine auth login licensing --base-url URL --app-code C',
  chat: 'chatelaine auth login chat --site URL --email E',
} as const satisfies Record<Kind, string>;

export const firstSignIn = `Sign in to an application: ${signIn.licensing}\nTo a chat: ${signIn.chat}`;

export const accountFields = {
  licensing: {
    base_url: {
      required: true,
      ...textField('URL', 'Licensing: URL of the API, without /v1'),
      read: readBaseUrl,
      environment: 'Origin and path of the licensing API, without /v1; with a key it is a complete credential',
    },
    app_code: {
      ...licenseFields.app_code,
      help: 'Licensing: code of the application',
      environment: 'Code of the application; alone it acts as --app-code',
      alone: true,
    },
  },
  chat: {
    site: {
      required: true,
      ...textField('URL', 'Chat: URL of the organization'),
      read: readSite,
      environment: 'URL of the chat organization; with e-mail and key it is a complete credential',
    },
    email: {
      required: true,
      ...textField('E-MAIL', 'Chat: address of the account'),
      read: readEmail,
      environment: 'E-mail address of the chat account',
    },
  },
} as const satisfies Record<Kind, ProfileFields>;

const shared = {
  read_only: { kind: 'boolean', negatable: true, help: 'Refuse every write with this profile' },
  allow_http: { ...flagField('Send the key over plain http, where anybody on the way can read it'), negatable: true },
} as const satisfies ProfileFields;

/** Further settings. A login to a stored profile keeps those that are not typed; an empty text removes one. */
export const profileSettings = {
  licensing: {
    key_field: {
      kind: 'string',
      placeholder: 'FIELD',
      help: 'Licensing: the field of responses that contains the license key (default: detected)',
    },
    ledger: {
      kind: 'string',
      read: readLedgerUrl,
      placeholder: 'URL',
      help: 'Licensing: postgres: URL of a ledger that several machines share, see ledger init',
    },
    mac_format: {
      kind: 'string',
      choices: ['as_is'],
      help: 'Licensing: as_is sends MAC addresses as typed',
      environment: 'as_is: sensor addresses are sent as typed; belongs to the complete credential',
    },
    ...shared,
  },
  chat: shared,
} as const satisfies Record<Kind, ProfileFields>;

/** The global option `--ca-file` of a login, as an absolute path. */
const ca_file = textField('FILE', 'Certificates (PEM) that the profile trusts besides the usual ones');

/** Every field of a profile but its name and where its key comes from. */
export const profileFields = {
  licensing: { ...accountFields.licensing, ...profileSettings.licensing, ca_file },
  chat: { ...accountFields.chat, ...profileSettings.chat, ca_file },
} as const;

/** Every field of a credential but its key: the environment may leave the application open. */
export const credentialFields = {
  licensing: { ...profileFields.licensing, app_code: { ...accountFields.licensing.app_code, required: false } },
  chat: profileFields.chat,
} as const;

/** The header lines of the environment's credentials, of either kind. */
export const headerVariable = 'CHATELAINE_HEADER_FILE';

export const headerFile = {
  kind: 'string',
  placeholder: 'FILE',
  help: 'Lines NAME: VALUE that go with each request, for an access proxy; they are kept like the key. - is standard input',
} as const satisfies Field;

export type CredentialValues<K extends Kind> = Values<(typeof credentialFields)[K]>;

export const keyCommand = textField('COMMAND', 'Run this command at each use; the first line it prints is the key');

interface Stored {
  readonly name: string;
  readonly key_command?: string;
}

export type LicensingProfile = { readonly kind: 'licensing' } & Stored & Values<(typeof profileFields)['licensing']>;

export type ChatProfile = { readonly kind: 'chat' } & Stored & Values<(typeof profileFields)['chat']>;

export type Profile = LicensingProfile | ChatProfile;

/** An account of either kind, as far as words and origins need it. */
export type Account =
  | { readonly kind: 'licensing'; readonly base_url: string; readonly app_code?: number | undefined }
  | { readonly kind: 'chat'; readonly site: string; readonly email: string };

/** Where an account's key is sent. */
export function urlOf(account: Account): string {
  return account.kind === 'licensing' ? account.base_url : account.site;
}

/** The account's name at the server: the code of the application, which may be open, or the address. */
export function userOf(account: Account): string | number | undefined {
  return account.kind === 'licensing' ? account.app_code : account.email;
}

/** That name as fields of `auth status`; in other rows `account` means an account of the system. */
export function namesOf(account: Account) {
  return account.kind === 'licensing'
    ? { app_code: account.app_code ?? null, email: null }
    : { app_code: null, email: account.email };
}

/** The variable of a field of that kind: CHATELAINE_BASE_URL, CHATELAINE_CHAT_SITE. */
export function variableOf(kind: Kind, name: string): string {
  return `CHATELAINE_${kind === 'chat' ? 'CHAT_' : ''}${name.toUpperCase()}`;
}

/** The variables of a complete credential, with their help. */
export function variablesOf(kind: Kind): Readonly<Record<string, string>> {
  const owner = kind === 'chat' ? 'the chat account' : 'the licensing API';
  const rows = Object.entries<ProfileField>(credentialFields[kind]).flatMap(([name, { environment }]) =>
    environment === undefined ? [] : [[variableOf(kind, name), environment] as const],
  );
  return {
    ...Object.fromEntries(rows),
    [variableOf(kind, 'api_key')]: `Key of ${owner}`,
    [variableOf(kind, 'api_key_file')]: `File whose first line is the key of ${owner}`,
  };
}

/** Checks the name for a profile. @throws Failure usage */
export function readProfileName(text: string): string {
  if (text === 'environment')
    throw usage(`a profile cannot be named 'environment': the name means the variables of the environment`);
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw usage('a profile name is 1 to 64 letters, digits, dots, dashes or underscores, and does not begin with a dash');
}

/** An e-mail address that can be the user of basic authentication (RFC 7617: no colon). @throws Failure usage */
export function readEmail(text: string): string {
  refuseQuoted('the e-mail address', text);
  if (text !== '' && !/[\s:\p{Cc}]/u.test(text)) return text.toLowerCase();
  throw usage('the e-mail address is empty, or holds a space or a colon');
}
