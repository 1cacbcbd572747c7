import { isMap, isScalar, LineCounter, parseDocument, type Scalar } from 'yaml';
import { usage } from '../../core/failure.ts';

/** How many errors of one text are named. */
const mostErrors = 20;

/** The parser is recursive, and deep nesting would end the process; settings are not nested. */
const mostOpenings = 500;

/** Values stay as written (`007` is not 7); no aliases, no tags. @throws Failure usage with file and line alone */
export function yamlEntries(label: string, format: 'YAML' | 'JSON', text: string): SettingEntry[] {
  const openings = text.match(/[[{]|[-?:](?=\s)/g) ?? [];
  if (openings.length > mostOpenings)
    throw usage(
      `${label}: ${openings.length} names, lists and mappings are no settings file; the limit is ${mostOpenings}`,
    );
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false } as const;
  const { errors, contents } = parseDocument(text, options);
  const placeOf = (offset: number): string => `${label}:${lines.linePos(offset).line}`;
  // The library's own words quote the text.
  const words = errors.map(({ code, pos }) => {
    return `${placeOf(pos[0])}: not valid ${format} (${code.toLowerCase().replaceAll('_', ' ')})`;
  });
  if (words.length > 0) throw usage(words.slice(0, mostErrors));
  if (contents === null) return [];
  if (!isMap(contents))
    throw usage(`${label}: expected a ${format === 'JSON' ? 'JSON object' : 'mapping'} of settings`);
  return contents.items.map(({ key, value }) => {
    const place = placeOf(key.range[0]);
    if (!isScalar(key)) throw usage(`${place}: the name of a setting is a text`);
    const name = sourceOf(key);
    return { place, name, text: () => scalarText(name, value) };
  });
}

function scalarText(name: string, value: unknown): string {
  const isPlain = isScalar(value) && ['string', 'number', 'boolean', 'bigint'].includes(typeof value.value);
  if (!isPlain) throw usage(`${name} is neither a text, a number, nor true or false`);
  return sourceOf(value);
}

function sourceOf(scalar: Scalar): string {
  return scalar.source ?? String(scalar.value);
}

export interface SettingEntry {
  /** File and line: `team.yaml:3`. */
  readonly place: string;
  /** As written, dashes included. */
  readonly name: string;
  /** Undefined for a name without a value. @throws Failure usage for a value that is no text, number or boolean */
  readonly text: () => string | undefined;
}
