import { usage } from '../../core/failure.ts';

/**
 * The values of one section; a name is given in lower case. Undefined where the section does not have it.
 * Calling it throws Failure usage for a value whose `%` cannot be interpolated.
 */
export type Section = (name: string) => string | undefined;

interface Option {
  readonly lines: string[];
}

type IniOptions = Map<string, Option>;

/**
 * Reads an INI text by the rules of Python's ConfigParser: names without regard to case, `=` or `:`, comments on whole lines only,
 * deeper indented lines continue a value, `[DEFAULT]` fills in, `%(name)s` is replaced and `%%` is a percent sign.
 * @throws Failure usage naming every bad line by its number; no line is repeated, since it may hold a key
 */
export function readIni(text: string, wanted: string): Section {
  const { sections, problems } = parse(text.replace(/^\uFEFF/, ''));
  const section = sections.get(wanted);
  if (!section) problems.push(`there is no section [${wanted}]`);
  if (problems.length > 0) throw usage(problems);
  const raw = (name: string): string | undefined => {
    const option = section?.get(name) ?? sections.get('DEFAULT')?.get(name);
    return option?.lines.join('\n').trimEnd();
  };
  return (name) => {
    const value = raw(name);
    return value === undefined ? undefined : interpolate(name, value, raw, 0);
  };
}

interface Parsed {
  readonly sections: Map<string, IniOptions>;
  readonly problems: string[];
}

/** The place of the reader: the section, the option that a continuation belongs to, and the indent that it must exceed. */
interface IniPlace {
  section: IniOptions | undefined;
  option: Option | undefined;
  indent: number;
}

function parse(text: string): Parsed {
  const parsed: Parsed = { sections: new Map(), problems: [] };
  const place: IniPlace = { section: undefined, option: undefined, indent: 0 };
  text.split(/\r\n|\r|\n/).forEach((line, index) => {
    const content = line.trim();
    if (/^[#;]/.test(content)) return;
    const indent = line.length - line.trimStart().length;
    if (content === '' || (place.option && indent > place.indent)) place.option?.lines.push(content);
    else readLine(content, indent, index + 1, place, parsed);
  });
  return parsed;
}

function readLine(
  content: string,
  indent: number,
  number: number,
  place: IniPlace,
  { sections, problems }: Parsed,
): void {
  place.indent = indent;
  const header = /^\[(.+)\]/.exec(content)?.[1];
  if (header !== undefined) {
    if (sections.has(header) && header !== 'DEFAULT')
      problems.push(`line ${number}: section [${header}] appears twice`);
    place.section = sections.get(header) ?? new Map<string, Option>();
    place.option = undefined;
    sections.set(header, place.section);
    return;
  }
  const [, name, value] = /^([^=:]*?)\s*[=:]\s*(.*)$/.exec(content) ?? [];
  if (!place.section) problems.push(`line ${number}: is before any [section]`);
  else if (name === undefined || name === '') problems.push(`line ${number}: neither a [section] nor name = value`);
  else addOption(name.toLowerCase(), value ?? '', number, place, place.section, problems);
}

function addOption(
  name: string,
  value: string,
  number: number,
  place: IniPlace,
  section: IniOptions,
  problems: string[],
): void {
  if (section.has(name)) problems.push(`line ${number}: ${name} appears twice`);
  place.option = { lines: [value] };
  section.set(name, place.option);
}

const deepest = 10;

function interpolate(name: string, value: string, raw: Section, depth: number): string {
  if (depth > deepest) throw usage(`${name}: its %(name)s run in a circle`);
  return value.replace(/%(?:(%)|\(([^)]+)\)s|)/g, (_match, percent: string | undefined, other: string | undefined) => {
    if (percent !== undefined) return percent;
    if (other === undefined) throw usage(`${name}: a lone % is not allowed`, 'Write %% for a percent sign.');
    const inner = raw(other.toLowerCase());
    if (inner === undefined) throw usage(`${name}: %(${other})s names nothing that the file has`);
    return inner.includes('%') ? interpolate(name, inner, raw, depth + 1) : inner;
  });
}
