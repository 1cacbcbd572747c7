import { globalOptions } from '../commands/environment.ts';
import type { CommandSurface } from '../commands/surface.ts';
import { usage } from '../core/failure.ts';
import { flagOf, type Field } from '../schema/field.ts';
import { takesNextWord } from './command-words.ts';

/** The API's names of arguments; where a command has several names, the first is that of its first word. */
const argumentNames: Readonly<Record<string, readonly string[]>> = {
  license_code: ['license-code'],
  mac_address: ['mac-address'],
  channel: ['stream-id'],
  topic: ['topic-name'],
  fragment: ['fragment'],
  renaming: ['fragment', 'name'],
  snippet: ['saved-snippet-id'],
};

/** The API's switches that are other switches here. */
const switchNames: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  'apply-markdown': { true: 'no-raw-content', false: 'raw-content' },
  'is-pinned': { true: 'pin', false: 'hide' },
};

/** Takes the API's names, underscores and `=true` behind switches too. @throws Failure usage */
export function inOurNames(argv: readonly string[], { name, args = {}, options = {} }: CommandSurface): string[] {
  const fields = Object.entries<Field>({ ...globalOptions, ...options });
  const named = Object.keys(args).flatMap((argument) => argumentNames[argument] ?? []);
  const [first, last, line]: [string[], string[], string[]] = [[], [], []];
  let verbAt = name.split(' ').length;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const next = argv[index + 1];
    const [, flag = '', text] =
      /^--([^=]+)(?:=(.*))?$/s.exec(word.replace(/^[^=]+/, (typed) => withDashes(typed))) ?? [];
    if (word === '--') {
      line.push(...argv.slice(index));
      break;
    }
    if (named.includes(flag) && !fields.some((field) => flagOf(...field) === flag)) {
      const value = text ?? next;
      if (value === undefined) throw usage(`--${flag} needs a value`, `See chatelaine ${name} --help.`);
      (flag === named[0] ? first : last).push(flag === 'stream-id' && /^\d+$/.test(value) ? `id:${value}` : value);
      if (text === undefined) index += 1;
      continue;
    }
    const ours = flag === '' ? [word] : ourOption(flag, text, fields, word);
    line.push(...ours);
    const isWord = !word.startsWith('-') || word === '-';
    if (next !== undefined && !isWord && takesNextWord(ours[0] ?? '', fields)) {
      refuseOption(ours[0] ?? '', next, fields);
      line.push(next);
      index += 1;
    }
    if (isWord && (verbAt -= 1) === 0) first.push(...line.splice(0));
  }
  return [...first, ...line, ...(last.length > 0 && !line.includes('--') ? ['--'] : []), ...last];
}

/** `--remote-user --size-allowance 3`: the value was forgotten. @throws Failure usage */
function refuseOption(word: string, next: string, fields: readonly (readonly [string, Field])[]): void {
  if (/^--[a-z]/.test(next) && fields.some((one) => `--${flagOf(...one)}` === next.replace(/=.*/s, '')))
    throw usage(`${word} needs a value`, `If its value is ${next}, write ${word}=${next}.`);
}

/** An option as the command's table has it; one that it does not have stays as it was typed. */
function ourOption(
  flag: string,
  text: string | undefined,
  fields: readonly (readonly [string, Field])[],
  typed: string,
): readonly string[] {
  const behind = text === undefined ? '' : `=${text}`;
  const switched = flag.replace(/^no-/, '');
  const meant = switchNames[switched]?.[text ?? String(switched === flag)];
  const field = fields.find((one) => flagOf(...one) === flag || withDashes(one[0]) === flag);
  const switches = Object.values(switchNames[switched] ?? {});
  if (!field && fields.some(([name]) => switches.includes(withDashes(name))))
    return meant === undefined ? [] : [`--${meant}`];
  const bare = field?.[1].kind === 'string' ? field[1].bare : undefined;
  const isSwitch = bare !== undefined || field?.[1].kind === 'boolean';
  if (field && isSwitch && text === 'false') return [`--no-${flagOf(...field)}`];
  const isOn = isSwitch && (text ?? 'true') === 'true';
  if (field) return [`--${flagOf(...field)}${!isOn ? behind : bare === undefined ? '' : `=${bare}`}`];
  return fields.some((one) => flag === `no-${flagOf(...one)}`) ? [`--${flag}${behind}`] : [typed];
}

function withDashes(name: string): string {
  return name.replaceAll('_', '-');
}
