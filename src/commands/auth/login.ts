import { usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { namesIn, defined } from '../../core/table-names.ts';
import { alternatives, flagField, textField, optional } from '../../schema/field.ts';
import {
  accountFields,
  firstSignIn,
  keyCommand,
  profileFields,
  profileSettings,
  type Kind,
  headerFile,
  kinds,
  urlOf,
} from '../../schema/profile.ts';
import type { CandidateProfile } from '../../store/account/profiles.ts';
import { command } from '../command.ts';
import { headersFrom, hostName, keyPlaces, mergeWithStored, readKey, storeProfile, typedName } from './account.ts';

const kindField = {
  kind: 'string',
  choices: namesIn(kinds),
  placeholder: namesIn(kinds).join('|'),
  help: 'What the credential is for; not needed with --name of a stored profile',
} as const;

const settings = { ...profileSettings.licensing, ...profileSettings.chat };

export default command({
  about: [
    'A profile is one credential: an application of the licensing API, or an account of the chat. The first profile of a kind becomes ' +
      'its default; auth use changes that.',
    'If a profile of that name is stored, it keeps its URL and account, the --ca-file, the headers, and ' +
      `${namesIn(profileSettings.licensing).join(', ')} unless you give them; an empty value removes one. A profile of another account is ` +
      'replaced only when you agree, or with --yes.',
    'To rotate a key, give --name of the stored profile: auth login --name prod prompts for the new key only, or reads it with --api-key-stdin.',
    `${keyPlaces.licensing} ${keyPlaces.chat}`,
    'The key is read from a hidden prompt, standard input, a file, or a command that is run at each use; no option ' +
      'accepts the key itself. It is checked before anything is stored.',
    'Key commands of common password managers: pass show chatelaine/prod; secret-tool lookup service chatelaine account prod; ' +
      'op read op://vault/chatelaine/key; security find-generic-password -s chatelaine -a prod -w (macOS); ' +
      'powershell -NoProfile -Command "Get-Secret chatelaine -AsPlainText" (Windows). No shell runs them: quotes are understood, nothing is ' +
      'expanded, and on Windows a backslash is an ordinary character.',
  ],
  args: { kind: kindField },
  options: {
    ...optional({ ...accountFields.licensing, ...accountFields.chat }),
    name: textField('NAME', 'Name of the profile (default: app-CODE, or the host of the site)'),
    password: flagField(
      'Chat: ask for the password of the account, and fetch the key with it; the password is not kept',
    ),
    api_key_stdin: flagField('Read the key from standard input'),
    api_key_file: textField('FILE', 'Read the key from the first line of a file that nobody else can read'),
    key_command: keyCommand,
    header_file: headerFile,
    ...settings,
    check: { kind: 'boolean', negatable: true, help: 'Check the key before it is stored (default: yes)' },
  },
  examples: [
    'chatelaine auth login licensing --base-url https://licenses.example.com --app-code 4711 --key-command "pass show chatelaine/prod"',
    'chatelaine auth login chat --site https://chat.example.com --email ada@example.com --api-key-stdin',
    'chatelaine auth login chat --site https://chat.example.com --email ada@example.com --password --dry-run',
  ],

  dryRun: ['rows'],

  async run({ kind, name: given, check, header_file, ...keysAndWords }, context) {
    const { password, api_key_stdin, api_key_file, key_command, ...words } = keysAndWords;
    if (api_key_stdin && header_file === '-')
      throw usage('--api-key-stdin and --header-file - both read standard input');
    const name = typedName(given, context);
    const stored = name === undefined ? undefined : await context.accounts.profiles().find(name);
    const chosen = kind ?? stored?.kind;
    if (chosen === undefined)
      throw usage(
        `${name === undefined ? '' : `there is no profile '${name}', and for a new one `}kind is required: ${alternatives(kindField.choices)}`,
        firstSignIn,
      );
    refuseForeign(chosen, chosen === 'chat' ? words : { ...words, password });
    // Missing fields come only from the stored profile of that name: no other profile's server may get the key.
    if (stored?.kind !== chosen) refuseIncomplete(chosen, words);
    const profile = await mergeWithStored(candidateOf(chosen, name, { ...defined(words), key_command }), context);
    if (password && context.options.dry_run) {
      // A dry run asks for no password: it shows the call that would fetch the key.
      context.say(`would send: POST ${urlOf(profile)}/api/v1/fetch_api_key, with username and password`);
      return { profile: profile.name, kind: profile.kind, status: 'would be stored' };
    }
    const source = defined({ password, api_key_stdin, api_key_file, key_command });
    const headers = await headersFrom(header_file, profile, context);
    return storeProfile(profile, { key: await readKey(source, profile, context, headers), headers }, check, context);
  },

  show: { columns: ['profile', 'kind', 'status'], line: ({ profile, status }) => `Profile ${profile}: ${status}` },
});

function refuseForeign(kind: Kind, typed: JsonObject): void {
  const foreign = Object.keys(typed).filter((name) => typed[name] !== undefined && !(name in profileFields[kind]));
  if (foreign.length > 0) throw usage(`auth login ${kind} does not accept ${flagsOf(foreign).join(', ')}`);
}

function refuseIncomplete(kind: Kind, typed: JsonObject): void {
  const account = namesIn(accountFields[kind]);
  if (account.some((field) => typed[field] === undefined))
    throw usage(`auth login ${kind} needs ${flagsOf(account).join(' and ')}`);
}

function candidateOf(kind: Kind, name: string | undefined, values: JsonObject): CandidateProfile {
  const usual = () => (kind === 'licensing' ? `app-${String(values['app_code'])}` : hostName(String(values['site'])));
  return { ...values, kind, name: name ?? usual() };
}

function flagsOf(names: readonly string[]): string[] {
  return names.map((name) => `--${name.replaceAll('_', '-')}`);
}
