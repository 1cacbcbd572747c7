import { namesIn } from '../../core/table-names.ts';
import { faultKinds, kindOf, type FaultKind } from '../../sandbox/fault-kinds.ts';
import { errorShapes } from '../../sandbox/licensing/error-shapes.ts';
import { listShapes } from '../../sandbox/licensing/list-shapes.ts';
import { nameChanges } from '../../sandbox/licensing/name-changes.ts';
import { filterRules } from '../../sandbox/licensing/shape.ts';
import { writeShapes } from '../../sandbox/licensing/write-shapes.ts';
import type { Field } from '../../schema/field.ts';
import { settings } from '../../schema/settings.ts';
import { ledgerChapters, severalMachines } from './ledger-chapters.ts';
import type { Block, Chapter } from './roff.ts';

/** What the manual says of single commands besides their own texts, by command. */
export const chapters: Readonly<Record<string, readonly Chapter[]>> = {
  'license create': [{ title: 'WHEN AN ANSWER IS LOST', blocks: [{ text: lostAnswer() }] }],
  'license ensure': [neverTwo()],
  'license apply': [neverTwo(), journals()],
  'license edit': [whenUserLeaves()],
  'license audit': [rosterFile(['remote_user', 'size_allowance (optional)', 'app_code (optional)']), whenUserLeaves()],
  'first-activation audit': [rosterFile(['mac_address', 'remote_user', 'app_code (optional)'])],
  'settings set': [settingsChapter(), passwords()],
  'settings list': [settingsChapter()],
  'settings describe': [settingsChapter()],
  'topic delete': [deletion()],
  'ledger init': ledgerChapters(),
  'ledger status': [severalMachines()],
  'auth login': [keyCommands(), storage()],
  'auth import': [storage()],
  'sandbox serve': [variables(), ...licensingShapes(), faultRules(), faults()],
};

function lostAnswer(): string {
  return (
    'A connection can end after the service has made the license and before it has said so. The request is never just sent again: ' +
    'chatelaine waits --settle, lists the licenses of that user, and takes the one of the asked size as the new one. Where the list ' +
    'shows none the request was not carried out, and is sent again. Where it shows several, or one of another size, nothing can tell ' +
    'which is new: exit code 9, and a look with license view --remote-user is up to you.'
  );
}

/** What a user may rely on, and what not. */
export function neverTwo(): Chapter {
  return {
    title: 'NEVER TWO',
    blocks: [
      {
        text:
          'license ensure and license apply never give a user a second license. They look before they create; a request whose answer ' +
          'is lost is not sent again before a list, --settle later, shows that it was not carried out; and on one machine no two ' +
          'processes work on the same user of the same application at the same time.',
      },
      {
        text:
          'This holds as long as the service carries a request out within --settle of receiving it, or not at all. If yours may take ' +
          'longer, say so: --settle 60s. It also holds only as long as nobody else creates licenses of the same users meanwhile by ' +
          'other means. Across machines it holds where they share a ledger, see chatelaine-ledger-init(1); without one let your CI run ' +
          'one such job at a time (a concurrency group). license audit finds users with several licenses, wherever they come from.',
      },
      { text: lostAnswer() },
    ],
  };
}

/** The API has no delete. */
export function whenUserLeaves(): Chapter {
  return {
    title: 'WHEN A USER LEAVES',
    blocks: [
      {
        text:
          'The licensing API has no delete: a license stays. Make it worthless in place: find it with license view, rename its user ' +
          'to a name that nobody will have, and set the smallest size. The key itself is not withdrawn by that.',
      },
      {
        commands: [
          'chatelaine license view --remote-user ada',
          "chatelaine license edit CODE --remote-user 'left-2026-03-ada' --size-allowance 1",
        ],
      },
      {
        text:
          'Take the user out of the roster in the same change, or the next license apply creates a new license. license audit --roster ' +
          'finds the rest: unexpected names licenses of users who are not in the roster, the renamed ones among them, which license ' +
          "list --match 'left-*' shows. When the user comes back, rename the license back rather than create another one.",
      },
    ],
  };
}

/** How an interrupted run resumes. */
export function journals(): Chapter {
  return {
    title: 'JOURNALS',
    blocks: [
      {
        text:
          'license apply and first-activation audit write every step to a journal, synced to disk before and after its request. After ' +
          'Ctrl-C, a crash, a power cut or a full disk, the same command with the same file resumes where it stopped. A finished run ' +
          'closes its journal, and the next one plans afresh.',
      },
      {
        text:
          'The journal is in the journals folder of the state folder, one for each job, server, application and content of the ' +
          'file; --journal FILE puts it elsewhere, for example on a volume that outlives a CI job. Rows and outcomes are in it, license ' +
          'keys are not. Without a place for its journal license apply does not begin (exit code 3).',
      },
    ],
  };
}

function rosterFile(columns: readonly string[]): Chapter {
  return {
    title: 'ROSTER',
    blocks: [
      {
        text: `CSV with a header, a JSON object on each line, or a JSON array. Columns: ${columns.join(', ')}; others are ignored. A file with bad rows is refused whole, every bad line named.`,
      },
    ],
  };
}

function settingsChapter(): Chapter {
  const entries = Object.entries<Field>(settings).map(([name, field]) => ({ term: name, text: settingText(field) }));
  return {
    title: 'SETTINGS',
    blocks: [
      {
        text: 'A feature level is the version of a chat server; chatelaine doctor shows that of yours. A setting that the server is too old for is refused or named.',
      },
      { entries },
    ],
  };
}

function settingText(field: Field): string {
  const level = field.level === undefined ? [] : [`From feature level ${field.level}.`];
  return [`${field.help}.`, typeText(field), ...level].join(' ');
}

function typeText(field: Field): string {
  if (field.kind === 'boolean') return 'A boolean: true or false.';
  if (field.kind === 'secret') return 'Asked for, or read with --from.';
  if (field.kind === 'string') return field.choices ? `One of ${field.choices.join(', ')}.` : 'A text.';
  if (field.kind !== 'integer') return '';
  if (!field.names) return `A number from ${field.min ?? 0} to ${field.max ?? ''}.`;
  const names = new Map<number, string[]>();
  for (const [name, value] of Object.entries(field.names)) names.set(value, [...(names.get(value) ?? []), name]);
  return `One of ${[...names].map(([value, known]) => `${value} ${known.join(' or ')}`).join(', ')}.`;
}

function passwords(): Chapter {
  return {
    title: 'PASSWORDS',
    blocks: [
      { text: 'On a terminal, type the bare names and be asked for both passwords, not shown while you type:' },
      { commands: ['chatelaine settings set old_password new_password'] },
      { text: 'In a script, let a password manager write the lines old_password=... and new_password=... to:' },
      { commands: ['chatelaine settings set --from -'] },
      {
        text: 'Written on the command line (new_password=...) they are refused: other users of the machine could read them.',
      },
    ],
  };
}

function deletion(): Chapter {
  return {
    title: 'HOW A TOPIC IS DELETED',
    blocks: [
      {
        text:
          'A server deletes a long topic in batches, the newest messages first, and may stop in between. chatelaine asks again until ' +
          'no message of the topic is left. It continues through lost answers, timeouts and 502, 503 and ' +
          '504, and through the errors with which servers below feature level 154 report that they ran out of time.',
      },
      {
        text:
          'Progress is counted by the messages that were there at the start. After two rounds in which none of them was deleted, or at ' +
          '--deadline, it ends with exit code 8 and the number of messages left; the same command continues. A message that somebody ' +
          'writes into the topic before the last call is deleted too; one that comes after it is left, with exit code 8.',
      },
      {
        text:
          'Every message that is looked at must be of the channel and the topic that were named; a server that answers with others is ' +
          'refused with exit code 7. At the end the deleted messages are asked for by their ids: those that were renamed, resolved or ' +
          'moved in the meantime still exist, and exit code 8 names where. Below feature level 300 only a sample of them is asked for.',
      },
    ],
  };
}

function keyCommands(): Chapter {
  return {
    title: 'KEY COMMANDS',
    blocks: [
      {
        text:
          'With --key-command the key itself is not stored: the command is, and runs at each use. Its first line of output is the ' +
          'key. The words are split as a POSIX shell splits them, quotes included; nothing is expanded and no shell is run. The first ' +
          'word is an absolute path, or found on an absolute entry of PATH. It has 30 seconds, and none of the CHATELAINE_ variables ' +
          'that hold a key. On a terminal it may ask for a passphrase.',
      },
      { heading: 'secret-tool (GNOME Keyring, KWallet)' },
      {
        commands: [
          'secret-tool store --label="licensing, production" service chatelaine account prod',
          'chatelaine auth login licensing --base-url https://licenses.example.com \\',
          '  --app-code 7 --name prod \\',
          "  --key-command 'secret-tool lookup service chatelaine account prod'",
        ],
      },
      { heading: 'pass' },
      {
        commands: [
          'pass insert chatelaine/prod',
          'chatelaine auth login licensing --base-url https://licenses.example.com \\',
          "  --app-code 7 --name prod --key-command 'pass show chatelaine/prod'",
        ],
      },
      { heading: 'op (1Password)' },
      {
        commands: [
          'chatelaine auth login chat --site https://chat.example.com \\',
          '  --email ada@example.com --name team \\',
          "  --key-command 'op read op://Private/chatelaine/credential'",
        ],
      },
    ],
  };
}

function storage(): Chapter {
  return {
    title: 'WHERE IT IS KEPT',
    blocks: [
      {
        text:
          'Profiles are in config.json and keys in credentials.json, in $XDG_CONFIG_HOME/chatelaine (~/.config/chatelaine), ' +
          'readable by you alone; a credentials file that others can read is refused. A key is stored with the origin of its URL and ' +
          'is sent nowhere else: not after a redirect, and not after the URL in config.json was changed. Plain http is accepted for ' +
          'this machine only.',
      },
    ],
  };
}

function variables(): Chapter {
  const lines = [
    'chatelaine sandbox serve --ready-file sandbox.env &',
    'until [ -f sandbox.env ]; do sleep 0.1; done',
    '. ./sandbox.env',
    'chatelaine license list',
    'kill $!',
  ];
  return {
    title: 'IN A SCRIPT',
    blocks: [
      { text: 'The ready file appears whole, once the server listens, and is a shell script:' },
      { commands: lines },
      {
        text:
          'Everything else that speaks these APIs can use the same addresses. The keys of the sandbox are no secrets: they are the ' +
          'same everywhere and open nothing else.',
      },
    ],
  };
}

function faultRules(): Chapter {
  const entries = [
    { term: 'KIND', text: 'Every request that matches.' },
    { term: 'KIND:0.05', text: 'Each with this probability. Those of one rule add up to 1 at most.' },
    { term: 'KIND#3', text: 'The next 3 that match.' },
    { term: 'KIND#3+2', text: 'The same, after 2 have passed.' },
    { term: 'KIND/3', text: 'Each third that matches.' },
    { term: 'KIND…@ARGUMENT', text: 'With an argument, where the kind takes one: delay-commit:0.02@3s.' },
  ];
  return {
    title: 'FAULT RULES',
    blocks: [
      {
        text:
          '--fault takes rules separated by semicolons, each METHOD PATH=FAULT,FAULT. The METHOD may be left out; in a PATH, which is ' +
          'without its query, a * matches any characters. Each FAULT is one of:',
      },
      { entries },
      {
        text:
          'The first rule that matches a request and draws a fault decides. The draw depends on --seed and the order of the requests ' +
          'alone: the same script, run alone against a new sandbox with the same seed, meets the same faults.',
      },
      {
        commands: [
          'chatelaine sandbox serve --fault "POST /v1/license/=drop-after:0.2,504-after:0.1"',
          'chatelaine sandbox serve --fault "*/delete_topic=502#1;*=429:0.02@500ms" --seed 7',
        ],
      },
    ],
  };
}

function faults(): Chapter {
  const entries = namesIn(faultKinds).map((name) => ({ term: name, text: faultText(name) }));
  return { title: 'FAULTS', blocks: [{ entries }] satisfies Block[] };
}

function faultText(name: FaultKind): string {
  const { means, argument } = kindOf(name);
  if (!argument) return sentenceOf(means);
  const kinds = { duration: 'a duration', text: 'a URL', messages: 'a number of messages' };
  return `${sentenceOf(means)} Argument: ${kinds[argument.kind]}, default ${argument.default}.`;
}

function sentenceOf(means: string): string {
  return `${means.charAt(0).toUpperCase()}${means.slice(1)}.`;
}

/** A chapter for each table of shapes. */
function licensingShapes(): Chapter[] {
  const chapter = (
    title: string,
    text: string,
    table: Readonly<Record<string, { readonly means: string }>>,
  ): Chapter => ({
    title,
    blocks: [
      { text },
      { entries: Object.entries(table).map(([term, { means }]) => ({ term, text: sentenceOf(means) })) },
    ],
  });
  return [
    chapter(
      'LIST SHAPES',
      'With --list-shape. Where a list comes in pages, each holds --page-size rows. A request can name a page by page, pageToken, ' +
        'or limit and offset, whatever the answers say of the next one.',
      listShapes,
    ),
    chapter(
      'ERROR SHAPES',
      'With --error-shape each error of the licensing service has status 200 and this body. The fault error-in-200 makes errors ' +
        'where there would be none.',
      errorShapes,
    ),
    chapter('WRITE SHAPES', 'With --write-shape, what follows POST, PUT and PATCH.', writeShapes),
    chapter('NAMES', 'With --names, as a database might keep the remote_user of a license.', nameChanges),
    chapter('FILTERS', 'With --filters, what remote_user and app_code in the query of a list do.', filterRules),
  ];
}
