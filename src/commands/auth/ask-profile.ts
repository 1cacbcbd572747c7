import { Failure, usage } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import { readField } from '../../schema/field.ts';
import { accountFields, kinds, type Kind, type ProfileField } from '../../schema/profile.ts';
import type { Accounts, Terminal } from '../context.ts';

type Person = Pick<Accounts, 'profiles'> & Terminal;

/** What a credential is for, as `auth login` takes it. */
export const kindField = {
  kind: 'string',
  choices: namesIn(kinds),
  placeholder: namesIn(kinds).join('|'),
  help: 'What the credential is for (on a terminal it is asked for)',
} as const;

/**
 * What a credential is for, asked for on a terminal.
 * @throws Failure usage where nobody can be asked
 */
export async function askKind(person: Person): Promise<Kind> {
  const names = kindField.choices.join(' or ');
  if (!person.interactive()) throw usage(`kind is required: ${names}`, 'See chatelaine auth login --help.');
  const read = (text: string): Kind => {
    const begun = kindField.choices.find((name) => text !== '' && name.startsWith(text.toLowerCase()));
    return begun ?? readField('kind', kindField, text);
  };
  return answer(`What is the key for: ${names}?`, undefined, read, person);
}

/**
 * What names the account and was not typed, asked for on a terminal; what was stored last is offered where the row says so.
 * @throws Failure usage where nobody can be asked
 */
export async function askMissing(
  kind: Kind,
  typed: Readonly<Record<string, unknown>>,
  person: Person,
): Promise<Readonly<Record<string, unknown>>> {
  if (!person.interactive()) return {};
  const stored = (await person.profiles().all()).filter((profile) => profile.kind === kind);
  const last: Readonly<Record<string, unknown>> = { ...stored.at(-1) };
  const answers: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<ProfileField>(accountFields[kind])) {
    if (typed[name] !== undefined || field.question === undefined) continue;
    const known = field.offersLast ? last[name] : undefined;
    const offered = typeof known === 'string' ? known : undefined;
    answers[name] = await answer(field.question, offered, (text) => readField(name, field, text), person);
  }
  return answers;
}

const mostTries = 3;

/** Asks again where the answer cannot be right. */
async function answer<T>(
  question: string,
  offered: string | undefined,
  read: (text: string) => T,
  { ask, note }: Person,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const text = (await ask(offered === undefined ? question : `${question} [${offered}]`)).trim();
    try {
      return read(text === '' ? (offered ?? text) : text);
    } catch (cause) {
      if (!(cause instanceof Failure) || tries === mostTries) throw cause;
      note([cause.message, cause.details.hint].filter((line) => line !== undefined).join('\n'));
    }
  }
}
