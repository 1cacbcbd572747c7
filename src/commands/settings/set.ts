import { usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { changeSettings } from '../../jobs/settings/change-settings.ts';
import { textField, type Assignment } from '../../schema/field.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Terminal } from '../context.ts';
import { readSettings, settingLines, toBeAsked } from '../../jobs/settings/read-settings.ts';
import { settingLine } from './read-settings.ts';

export default command({
  about: [
    'Every value is validated before anything is sent. Give choices by name or number; names may be written with dashes. ' +
      'settings list shows every setting, and settings get the current values.',
    'Passwords are never arguments: give the bare names old_password new_password to be prompted for them, or use --from.',
  ],
  args: {
    setting: { ...textField('NAME=VALUE', 'A setting and its value'), many: true },
  },
  options: {
    from: textField('FILE', 'Read settings from a file of NAME=VALUE lines; - is standard input'),
    raw: { ...textField('NAME=TEXT', 'Send a setting that this version does not know, unchanged'), many: true },
  },
  examples: [
    'chatelaine settings set color_scheme=dark twenty_four_hour_time=true',
    'chatelaine settings set email-address-visibility=admins-only',
    'chatelaine settings set timezone=Europe/Berlin --dry-run',
  ],

  dryRun: ['requests'],

  async *rows({ setting: words = [], from, raw = [] }, context) {
    const entries = from === undefined ? [] : settingLines(from, await context.disk.read(from));
    const values = readSettings({ words, entries, raw }, (text) => context.secrets.hide(text));
    // A read-only profile is refused before a question.
    await context.chatAccount();
    if (values.some(({ name, value }) => name === 'enable_drafts_synchronization' && value === false))
      context.warn('enable_drafts_synchronization=false deletes all drafts that the server keeps');
    yield* changeSettings(context.chat(), await askSecrets(values, context), context.note);
  },

  show: {
    columns: [...whole('name'), 'value', 'value_name', 'status'],
    none: 'no setting was changed',
    line: ({ status, ...row }) =>
      status === 'set' ? settingLine(row) : `${settingLine(row)} (${status.replace('_', ' ')})`,
  },
});

async function askSecrets(values: readonly Assignment[], { terminal }: Terminal): Promise<Assignment[]> {
  const asked: Assignment[] = [];
  for (const assignment of values) {
    const { name, value } = assignment;
    asked.push(value === toBeAsked ? { ...assignment, value: await askSecret(name, terminal) } : assignment);
  }
  return asked;
}

/** A new password is typed twice: nobody sees a typo. */
async function askSecret(name: string, terminal: Terminal['terminal']): Promise<Secret> {
  const secret = await terminal.secret(`${name.replace('_', ' ')}:`);
  if (name === 'new_password' && !secret.equals(await terminal.secret('new password again:')))
    throw usage('the two new passwords differ: nothing was sent');
  return secret;
}
