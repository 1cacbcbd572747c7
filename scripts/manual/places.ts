import { variablesOf } from '../../src/schema/profile.ts';
import type { HelpEntry } from '../../src/cli/help.ts';
import type { Chapter } from './roff.ts';

const licensing = Object.entries(variablesOf('licensing'));
const chat = Object.entries(variablesOf('chat'));

/** The nouns whose commands use a credential, and the variables that can hold it. */
const credentials: Readonly<Record<string, readonly (readonly [name: string, text: string])[]>> = {
  license: licensing,
  'first-activation': licensing,
  settings: chat,
  messages: chat,
  archive: chat,
  topic: chat,
  view: chat,
  snippet: chat,
  auth: [...licensing, ...chat],
  api: [...licensing, ...chat],
  doctor: [...licensing, ...chat],
};

/** Commands of those nouns that send no request. */
const offline: ReadonlySet<string> = new Set([
  'settings list',
  'settings describe',
  'archive verify',
  'archive export',
]);

const stored: readonly HelpEntry[] = [
  { term: '~/.config/chatelaine/config.json', text: 'Profiles, without keys.' },
  { term: '~/.config/chatelaine/credentials.json', text: 'Keys; refused where others can read it.' },
];
const locks: HelpEntry = {
  term: '~/.local/state/chatelaine/locks/',
  text: 'Which process works on which users, and which requests have no response yet.',
};

/** Other files that single commands write. */
const own: Readonly<Record<string, readonly HelpEntry[]>> = {
  'license create': [locks],
  'license ensure': [locks],
  'license apply': [locks],
  'topic delete': [{ term: '~/.local/state/chatelaine/purges/', text: 'The archives of deleted topics.' }],
  'sandbox reset': [
    { term: '~/.local/state/chatelaine/sandbox.ndjson', text: 'What was changed in the embedded sandbox.' },
  ],
};

/** ENVIRONMENT and FILES of a command. */
export function placesOf(name: string): Chapter[] {
  const [noun = ''] = name.split(' ');
  const names = offline.has(name) ? [] : (credentials[noun] ?? []);
  const entries = names.map(([term, text]) => ({ term, text: `${text}.` }));
  const files = [...(names.length > 0 ? stored : []), ...(own[name] ?? [])];
  return [
    { title: 'Environment', blocks: [...(entries.length > 0 ? [{ entries }] : []), { text: twins }] },
    ...(files.length > 0 ? [{ title: 'Files', blocks: [{ entries: files }, { text: folders }] }] : []),
  ];
}

const twins =
  'CHATELAINE_OUTPUT, CHATELAINE_PROFILE and the variables of the other options of every command are in chatelaine(1).';
const folders = 'XDG_CONFIG_HOME, XDG_STATE_HOME and CHATELAINE_CONFIG_DIR name other folders.';
