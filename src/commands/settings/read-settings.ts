import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { cellText, whole } from '../../output/columns.ts';
import { settingNamed, valueName } from '../../schema/setting-text.ts';
import { settings } from '../../schema/settings.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Without NAME, shows every setting that the server reports; others have no value. Passwords cannot be read.',
    'Sends one request outside the specification (POST /register), whose event queue is removed afterwards.',
  ],
  args: {
    name: { kind: 'string', many: true, placeholder: 'NAME', help: 'Only these settings' },
  },
  examples: ['chatelaine settings get', 'chatelaine settings get color_scheme timezone -o json'],

  async rows({ name: names = [] }, { chat }) {
    const present = await presentSettings(chat(), names);
    return (names.length > 0 ? names : [...present.keys()]).map((name) => presentRow(present, name));
  },

  show: {
    columns: [...whole('name'), 'value', 'value_name'],
    none: 'the server reports no setting',
    line: (row) => (row.value === null ? `${row.name} is not reported` : settingLine(row)),
  },
});

type ShownSetting = Readonly<{ name: string; value: unknown; value_name?: string }>;

/** A line such as `color_scheme = dark`. */
export function settingLine({ name, value, value_name }: ShownSetting): string {
  return `${name} = ${value_name ?? cellText(value)}`;
}

/** The level that brought the object in which a server reports an account's settings (docs/apis.md, Settings). */
const reportingLevel = 89;

/** True for settings that the server reports with the user and not in the list of settings. */
function isOfUser(name: string): boolean {
  return /^(full[_-]name|email)$/.test(name);
}

/** Current values by name; full_name and email are read from the user. @throws Failure rejected where none is known */
async function presentSettings(
  chat: Pick<ChatApi, 'userSettings' | 'ownUser' | 'level'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const reported = names.length > 0 && names.every(isOfUser) ? {} : await chat.userSettings();
  if (!reported) {
    const level = await chat.level();
    const server = level === undefined ? 'it does not report its level' : `it has level ${level}`;
    throw new Failure('rejected', `this server does not report the settings of an account: ${server}`, {
      hint: `That needs level ${reportingLevel}.`,
    });
  }
  const { full_name, delivery_email, email } = (names.some(isOfUser) ? await chat.ownUser() : undefined) ?? {};
  // An address that is hidden from others is in delivery_email.
  const own = { full_name, email: delivery_email ?? email };
  const isValue = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
  return new Map(Object.entries({ ...reported, ...own }).filter(([, value]) => isValue(value)));
}

/** A setting with its current value; null where the server does not report it. @throws Failure usage for no setting */
function presentRow(present: ReadonlyMap<string, unknown>, typed: string) {
  const wire = typed.replaceAll('-', '_');
  const isRaw = !Object.hasOwn(settings, wire) && present.has(wire);
  const { name, field } = isRaw ? { name: wire, field: undefined } : settingNamed(typed);
  const value = present.get(name) ?? null;
  const value_name = field && valueName(field, value);
  return { name, value, ...(value_name !== undefined && { value_name }) };
}
