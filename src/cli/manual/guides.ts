import { failures, nameOf, type FailureKind } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import { neverTwo } from './chapters.ts';
import { exitStatus } from './program.ts';
import type { Chapter, ManualPage } from './roff.ts';

/** What to do after each failure. */
const advice: Readonly<Record<FailureKind, string>> = {
  internal: 'Report it with the command.',
  usage: 'Correct the command or the file. No request that changes anything was sent.',
  config:
    'Sign in, or set the variables; chatelaine doctor says what is missing. No request that changes anything was sent.',
  auth: 'Check the key and what its owner may do: chatelaine auth status.',
  not_found: 'Check the name. snippet rm and topic delete have --missing-ok.',
  rejected: 'Read what the server said. The same command fails again.',
  unavailable: 'Run the same command again, later.',
  incomplete: 'Run the same command again: it does what is left.',
  unknown:
    'Look before you repeat: the message names what to look at. It concerns what a server cannot undo or would do twice: a license, ' +
    'an e-mail address, a password, the name of a view.',
  differences: 'No error: an audit or a comparison found something.',
  cancelled: 'Run the same command again when you like.',
  terminated: 'The same.',
};

/** Pages about what commands have in common, in section 7. */
export const guides: readonly ManualPage[] = [
  {
    section: 7,
    name: 'chatelaine-exit-codes',
    summary: 'what the exit codes of chatelaine mean',
    chapters: exitCodes(),
  },
  { section: 7, name: 'chatelaine-scripting', summary: 'chatelaine in scripts, CI and cron', chapters: scripting() },
  { section: 7, name: 'chatelaine-never-two', summary: 'what chatelaine promises of licenses', chapters: promises() },
];

function exitCodes(): Chapter[] {
  return [
    {
      title: 'EXAMPLES',
      blocks: [
        { text: 'Run again where that is safe, and stop where a person has to look:' },
        {
          commands: [
            'chatelaine license apply roster.csv || case $? in',
            "  7|8) echo 'run the same command again' >&2; exit 1 ;;",
            "  9) echo 'look first: chatelaine license audit' >&2; exit 1 ;;",
            '  *) exit 1 ;;',
            'esac',
          ],
        },
        { text: 'Whether a roster would change anything:' },
        { commands: ['chatelaine license apply roster.csv --dry-run --exit-code || test $? -eq 10'] },
        { text: 'The reason as data:' },
        { commands: ['chatelaine license view NO-SUCH-KEY -o json 2>&1 >/dev/null | tail -n 1'] },
      ],
    },
    {
      title: 'DESCRIPTION',
      blocks: [
        {
          text:
            'Every command of chatelaine ends with one of these codes. The page of a command lists those that it can give. An empty ' +
            'list is a result, and 0; so is a reader that closes the pipe.',
        },
      ],
    },
    exitStatus(namesIn(failures)),
    {
      title: 'WHAT TO DO',
      blocks: [{ entries: namesIn(failures).map((kind) => ({ term: termOf(kind), text: advice[kind] })) }],
    },
    {
      title: 'AS DATA',
      blocks: [
        {
          text:
            'With -o json and -o ndjson the last line of standard error is {"error":{...}}: code is the name above with _ for -, exit ' +
            'the number, retryable whether the same command may succeed with nothing else changed. Exit code 10 writes no error.',
        },
      ],
    },
    seeAlso(['chatelaine(1)', 'chatelaine-scripting(7)', 'chatelaine-never-two(7)']),
  ];
}

function termOf(kind: FailureKind): string {
  return `${failures[kind].exit} ${nameOf(kind).replace('_', '-')}`;
}

function scripting(): Chapter[] {
  return [
    {
      title: 'EXAMPLES',
      blocks: [
        { text: "A user's key in a variable, made if there is none:" },
        {
          commands: ['key=$(chatelaine license ensure --remote-user ada --size-allowance 4) || exit', 'test -n "$key"'],
        },
        { text: 'A line for each license, without header:' },
        {
          commands: [
            'chatelaine license list --fields remote_user,size_allowance --no-header |',
            'while IFS=$\'\\t\' read -r user size; do echo "$user has $size"; done',
          ],
        },
        { text: 'A filter on the result, without jq being installed:' },
        { commands: [`chatelaine license list --jq '.[] | select(.size_allowance > 4) | .remote_user'`] },
        { text: 'What a command would send, and the same by curl:' },
        {
          commands: [
            'chatelaine license create --remote-user ada --size-allowance 4 --dry-run',
            'chatelaine license create --remote-user ada --size-allowance 4 --dry-run -o curl | bash -eu',
          ],
        },
      ],
    },
    {
      title: 'OUTPUT',
      blocks: [
        {
          text:
            'Standard output carries data alone. In a pipe it is tsv with a header; -o json and -o ndjson are for programs, and the ' +
            'tables of a terminal may change. Fields keep the names and values of the server. Choose fields with --fields rather than ' +
            'by their position. chatelaine commands -o json describes every command, option, variable and exit code.',
        },
        {
          text:
            'Nothing is asked without a terminal; --no-input asks nothing on one either. --quiet drops notes and progress, --deadline ' +
            'ends a command that takes too long, and --log FILE keeps a record of requests without secrets and license codes.',
        },
      ],
    },
    {
      title: 'CREDENTIALS',
      blocks: [
        {
          text:
            'In CI set CHATELAINE_BASE_URL, CHATELAINE_APP_CODE and CHATELAINE_API_KEY, the last from the secrets of your CI; for the ' +
            'chat CHATELAINE_CHAT_SITE, CHATELAINE_CHAT_EMAIL and CHATELAINE_CHAT_API_KEY. No profile and no file of the working folder ' +
            'is read then. On a machine of your own store a profile once with chatelaine auth login, and name it with --profile.',
        },
      ],
    },
    {
      title: 'GITHUB ACTIONS',
      blocks: [
        {
          text:
            'One run at a time, as chatelaine-never-two(7) asks for where no ledger is shared (chatelaine-ledger-init(1) shows jobs that ' +
            'share one); the log is kept whatever happens:',
        },
        {
          workflow: 'github',
          lines: [
            'name: licenses',
            'on:',
            '  push:',
            '    branches: [main]',
            '    paths: [roster.csv]',
            'concurrency: licenses',
            'jobs:',
            '  apply:',
            '    runs-on: ubuntu-latest',
            '    env:',
            '      CHATELAINE_BASE_URL: https://licenses.example.com',
            "      CHATELAINE_APP_CODE: '4711'",
            '      CHATELAINE_API_KEY: ${{ secrets.LICENSING_KEY }}',
            '    steps:',
            '      - uses: actions/checkout@v4',
            '      # Install chatelaine here: its tarball or its Debian package.',
            '      - run: chatelaine license apply roster.csv --changed --log requests.ndjson',
            '      - uses: actions/upload-artifact@v4',
            '        if: always()',
            '        with:',
            '          name: requests',
            '          path: requests.ndjson',
          ],
        },
      ],
    },
    {
      title: 'GITLAB CI',
      blocks: [
        { text: 'CHATELAINE_API_KEY is a masked variable of the project:' },
        {
          workflow: 'gitlab',
          lines: [
            'apply-licenses:',
            '  resource_group: licenses',
            '  variables:',
            '    CHATELAINE_BASE_URL: https://licenses.example.com',
            "    CHATELAINE_APP_CODE: '4711'",
            '  rules:',
            '    - changes: [roster.csv]',
            '  script:',
            '    - chatelaine license apply roster.csv --changed --log requests.ndjson',
            '  artifacts:',
            '    when: always',
            '    paths: [requests.ndjson]',
          ],
        },
      ],
    },
    {
      title: 'CRON',
      blocks: [
        { text: 'Each working day at a quarter past six; cron mails what is written to standard error:' },
        {
          workflow: 'cron',
          lines: [
            '15 6 * * 1-5 chatelaine license apply /srv/roster.csv --profile prod --quiet --deadline 30m >/dev/null',
          ],
        },
        {
          text:
            'A run that still works holds its users; the next one waits for it, at most until its --deadline. A run that was ' +
            'interrupted is resumed by the next one.',
        },
      ],
    },
    {
      title: 'TRYING A SCRIPT',
      blocks: [
        {
          text:
            'chatelaine sandbox serve is both services on this machine, with the faults that you choose: lost answers, errors, slow ' +
            'lists. A script that is right against it needs no change for the real ones but the variables:',
        },
        {
          commands: [
            'chatelaine sandbox serve --fault "POST /v1/license/=drop-after#1" --ready-file sandbox.env &',
            'until [ -f sandbox.env ]; do sleep 0.1; done',
            '. ./sandbox.env',
            'chatelaine license apply roster.csv --settle 1s',
            'kill $!',
          ],
        },
      ],
    },
    seeAlso([
      'chatelaine(1)',
      'chatelaine-exit-codes(7)',
      'chatelaine-never-two(7)',
      'chatelaine-ledger-init(1)',
      'chatelaine-sandbox-serve(1)',
    ]),
  ];
}

function promises(): Chapter[] {
  return [
    {
      title: 'EXAMPLES',
      blocks: [
        {
          commands: [
            'chatelaine license ensure --remote-user ada --size-allowance 4',
            'chatelaine license apply roster.csv',
          ],
        },
        { text: 'Users with several licenses, wherever those come from:' },
        { commands: ['chatelaine license audit || test $? -eq 10'] },
      ],
    },
    {
      title: 'DESCRIPTION',
      blocks: [
        {
          text:
            'The licensing service cannot delete a license and has no way to say that two requests are the same one. A license that is ' +
            'created twice stays. This page says what chatelaine does about it, what you can rely on, and what is left to you.',
        },
      ],
    },
    neverTwo(),
    {
      title: 'WHAT IS PROMISED',
      blocks: [
        {
          text:
            'No user gets a second license by license ensure or license apply, in any order of crashes, repeats and parallel runs on ' +
            'one machine, or on all machines that share a ledger, as long as the service carries a request out within --settle of its ' +
            'end, or never, and shows it in the list within that time.',
        },
        { text: 'What is reported as created, resized or unchanged was in an answer of the service.' },
        { text: 'A row that may or may not have a license is unknown, exit code 9. It is never reported as failed.' },
      ],
    },
    {
      title: 'WHAT IS NOT PROMISED',
      blocks: [
        {
          text:
            'Without a ledger several machines do not see one another: let your CI run one such job at a time, as ' +
            'chatelaine-scripting(7) shows. With one, every machine has to be configured with it: chatelaine-ledger-init(1).',
        },
        {
          text:
            'A service that creates a license later than --settle, or hides it in its list for longer, can end up with two. Give ' +
            '--settle more.',
        },
        { text: 'A clock that is set forward between two runs shortens the wait by as much.' },
        { text: 'Whoever removes journals and claims by hand removes what they remember.' },
        { text: 'license create makes a second license on request; it warns.' },
      ],
    },
    {
      title: 'IF THERE ARE TWO',
      blocks: [
        {
          text:
            'license audit names the user and the licenses. Keep the one that is in use; the other can only be made worthless: rename ' +
            'its user and give it the smallest size, as chatelaine-license-edit(1) describes.',
        },
      ],
    },
    seeAlso([
      'chatelaine(1)',
      'chatelaine-license-apply(1)',
      'chatelaine-license-audit(1)',
      'chatelaine-ledger-init(1)',
      'chatelaine-exit-codes(7)',
    ]),
  ];
}

function seeAlso(pages: readonly string[]): Chapter {
  return { title: 'SEE ALSO', blocks: [{ text: pages.join(', ') }] };
}
