import type { AnyCommand, NamelessCommand } from './command.ts';

/** The nouns of commands, in the order of help. */
export const nouns: Readonly<Record<string, string>> = {
  license: 'License keys of an application: one for each end user',
  'first-activation': 'Which license activated a sensor first',
  ledger: 'A ledger in PostgreSQL that several machines share',
  messages: 'Messages of the team chat',
  archive: 'Copies of messages in a folder',
  channel: 'Channels of the team chat',
  topic: 'Topics of the team chat',
  settings: "The chat account's own settings",
  view: 'Navigation views of the team chat',
  snippet: 'Saved snippets of the team chat',
  auth: 'Stored credentials',
  sandbox: 'Both services on this machine, for trials and tests',
  api: 'Any request to one of the two APIs',
};

/** A row of the table of commands: its name, and what help needs without loading it. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<AnyCommand>;
}

const entry = (
  name: string,
  summary: string,
  load: () => Promise<NamelessCommand | { readonly default: NamelessCommand }>,
): CommandEntry => ({
  name,
  summary,
  async load() {
    const loaded = await load();
    return { name, summary, ...('default' in loaded ? loaded.default : loaded) };
  },
});

/** Every command, in the order of help and manual. */
export const commandTable: readonly CommandEntry[] = [
  entry('license create', 'Create one more license, even if the user has one', () => import('./license/create.ts')),
  entry('license list', 'List licenses', () => import('./license/list-licenses.ts')),
  entry('license view', 'Show a license, or all licenses of a user', () => import('./license/view-license.ts')),
  entry('license edit', 'Change a license in place', () => import('./license/edit.ts')),
  entry('license rename', 'Rename a user; the keys stay the same', () => import('./license/rename.ts')),
  entry('license retire', 'Retire licenses; their keys keep working', () => import('./license/retire.ts')),
  entry('license history', 'Show what runs on this computer changed', () => import('./license/history.ts')),
  entry('license undo', 'Undo what a run changed', () => import('./license/undo.ts')),
  entry('license ensure', 'Ensure one license for one user, and print its key', () => import('./license/ensure.ts')),
  entry('license apply', 'Ensure one license for each row of a file', () => import('./license/apply.ts')),
  entry('license audit', 'Find wrong or duplicate licenses', () => import('./license/audit-license-list.ts')),
  entry(
    'first-activation',
    'Show the license that activated a sensor first',
    () => import('./first-activation/view-first-activation.ts'),
  ),
  entry(
    'first-activation audit',
    'Find sensors first activated by another user',
    () => import('./first-activation/audit-first-activations.ts'),
  ),
  entry('settings set', "Change the account's settings", () => import('./settings/set.ts')),
  entry('settings get', "Show the account's settings", () => import('./settings/read-settings.ts')),
  entry('settings list', 'List every setting with its values', () => import('./settings/list-settings.ts')),
  entry(
    'settings describe',
    'Explain one setting',
    async () => (await import('./settings/list-settings.ts')).describeOne,
  ),
  entry('messages fetch', 'Fetch messages', () => import('./messages/fetch.ts')),
  entry('archive pull', 'Copy messages to a folder, and add new ones', () => import('./archive/pull.ts')),
  entry('archive list', 'List archives', () => import('./archive/list-archives.ts')),
  entry('archive verify', 'Check an archive for damage', () => import('./archive/verify.ts')),
  entry('archive export', 'Write an archive as HTML, text, CSV or NDJSON', () => import('./archive/export.ts')),
  entry('channel list', 'List channels', async () => (await import('./lists.ts')).channels),
  entry('topic list', 'List the topics of a channel', () => import('./topic/list-topics.ts')),
  entry('topic delete', 'Delete topics with all their messages', () => import('./topic/delete-topic.ts')),
  entry('topic history', 'Show which topics runs on this computer deleted', () => import('./topic/history.ts')),
  entry('view pin', 'Pin navigation views', () => import('./view/pin.ts')),
  entry('view hide', 'Hide navigation views in the menu', async () => (await import('./view/pin.ts')).hide),
  entry('view list', 'List navigation views', async () => (await import('./lists.ts')).views),
  entry('view rename', 'Rename a custom navigation view', () => import('./view/rename.ts')),
  entry('snippet list', 'List saved snippets', async () => (await import('./lists.ts')).snippets),
  entry('snippet rm', 'Delete saved snippets', () => import('./snippet/rm.ts')),
  entry('ledger init', 'Create or upgrade the shared ledger (PostgreSQL)', () => import('./ledger/init.ts')),
  entry('ledger status', 'Show runs and open requests in the shared ledger', () => import('./ledger/ledger-status.ts')),
  entry('auth login', 'Store a credential, or rotate its key', () => import('./auth/login.ts')),
  entry('auth import', 'Import the credential in a zuliprc file', () => import('./auth/import.ts')),
  entry('auth status', 'Check credentials with the servers', () => import('./auth/auth-status.ts')),
  entry('auth use', 'Make a profile the default of its kind', () => import('./auth/use.ts')),
  entry('auth logout', 'Forget a profile and its key, or all of them', () => import('./auth/logout.ts')),
  entry('auth token', 'Print the key of a profile', () => import('./auth/token.ts')),
  entry(
    'api licensing',
    'Send any request to the licensing API',
    async () => (await import('./api/raw-command.ts')).licensing,
  ),
  entry('api chat', 'Send any request to the chat API', async () => (await import('./api/raw-command.ts')).chat),
  entry('sandbox serve', 'Serve both APIs, for trials and tests', () => import('./sandbox/serve.ts')),
  entry('sandbox reset', "Restore the embedded sandbox's sample data", () => import('./sandbox/reset.ts')),
  entry('completion', 'Print the completion script for a shell', () => import('./completion.ts')),
  entry('commands', 'Describe every command as data', () => import('./commands.ts')),
  entry('doctor', 'Check the setup, and say what to do', () => import('./doctor.ts')),
];
