import { usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { commandLine } from '../../core/shell-word.ts';
import { changeSettings, type SettingRow } from '../../jobs/settings/change-settings.ts';
import { textField, type Assignment } from '../../schema/field.ts';
import { readSettingsFile } from '../../store/settings/settings-file.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Disk, Invocation, Services, Terminal } from '../context.ts';
import { readSettings, toBeAsked } from '../../jobs/settings/read-settings.ts';

/** How changed settings look. */
export const changedSettings = {
  fields: ['value_before'],
  show: { columns: [...whole('name'), 'value', 'value_name', 'change', 'status'], none: 'no setting was changed' },
};

export default command({
  about: [
    'Every value is validated before anything is sent. Choices are taken by name or number, and names may be written with dashes. ' +
      'settings list shows every setting. The values of before are read first, and shown; settings undo restores them.',
    'Passwords are never arguments: type the bare names old_password new_password to be asked for them, or use --from.',
  ],
  args: {
    setting: { ...textField('NAME=VALUE', 'A setting and its value'), many: true, suggest: 'assignments' },
  },
  options: {
    from: textField('FILE', 'Read settings from a file: YAML, a JSON object, or NAME=VALUE lines; - is standard input'),
    raw: { ...textField('NAME=TEXT', 'Send a setting that this version does not know, as typed'), many: true },
  },
  examples: [
    'chatelaine settings set color_scheme=dark twenty_four_hour_time=true',
    'chatelaine settings set email-address-visibility=admins-only',
    'chatelaine settings set timezone=Europe/Berlin --dry-run',
  ],

  dryRun: ['requests'],

  async *rows({ setting: words = [], from, raw = [] }, context) {
    const entries = from === undefined ? [] : await readSettingsFile(from, await context.disk.read(from));
    const values = readSettings({ words, entries, raw }, (text) => context.secrets.hide(text));
    // A read-only profile is refused before a question.
    await context.chatAccount();
    await agreeToLoss(values, context);
    yield* changeAndTell(await askSecrets(values, context), context);
  },

  ...changedSettings,
});

/** Changes settings, and says at the end how to undo it. */
export async function* changeAndTell(
  values: readonly Assignment[],
  context: Invocation & Services & Accounts & Terminal & Disk,
): AsyncGenerator<SettingRow> {
  const { note, conclude, options } = context;
  const { profile, sandbox, dry_run: isPlan = false } = options;
  const account = await context.chatAccount();
  const { run, record } = context.record.recorder(account);
  const changed: string[] = [];
  try {
    for await (const row of changeSettings(context.chat(), values, { note, isPlan, record, email: account.email })) {
      if (row.change !== undefined) changed.push(`${row.name}: ${row.change}`);
      yield row;
    }
  } finally {
    const [text = '', ...others] = changed;
    const what = others.length === 0 ? text : `${changed.length} settings were changed`;
    if (changed.length > 0)
      conclude(`${what}; to undo it: ${commandLine('settings undo', [run], { profile, sandbox })}`);
  }
}

/** Asks on a terminal before drafts are lost; a script, and a dry run, has said what it wants and is warned. */
export async function agreeToLoss(
  values: readonly Assignment[],
  { options, interactive, confirm, warn }: Invocation & Terminal,
): Promise<void> {
  const loses = values.some(
    ({ name, value }) => name === 'enable_drafts_synchronization' && String(value).toLowerCase() === 'false',
  );
  if (!loses) return;
  const loss = 'enable_drafts_synchronization=false deletes all drafts that the server keeps';
  if (interactive() && !options.yes && !options.dry_run) await confirm(`${loss}. Continue?`);
  else warn(loss);
}

async function askSecrets(values: readonly Assignment[], { terminal }: Terminal): Promise<Assignment[]> {
  const asked: Assignment[] = [];
  for (const assignment of values) {
    const { name, value } = assignment;
    asked.push(value === toBeAsked ? { ...assignment, value: await askSecret(name, terminal) } : assignment);
  }
  return asked;
}

/** A new password is typed twice: nobody sees a slip. */
async function askSecret(name: string, terminal: Terminal['terminal']): Promise<Secret> {
  const secret = await terminal.secret(`${name.replace('_', ' ')}:`);
  if (name === 'new_password' && !secret.equals(await terminal.secret('new password again:')))
    throw usage('the two new passwords differ: nothing was sent');
  return secret;
}
