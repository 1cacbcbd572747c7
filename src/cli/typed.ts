import type { Environment } from '../core/system.ts';

/** All that a user gave a run: words of the command line, lines of standard input in their place, and variables. */
export interface Typed {
  readonly words: readonly string[];
  /** Values typed as a user, topic or channel; only one with 32 letters and digits, as a key has, is hidden. */
  readonly names?: ReadonlySet<string>;
  readonly env: Environment;
}

/** Hides the values that were typed or set and may be a key (docs/apis.md, Credentials). */
export function keyHider({ words, names, env }: Typed): (text: string) => string {
  const variables = Object.entries(env).filter(([name]) => /^CHATELAINE_|_PROXY$/i.test(name));
  const places = [
    ...words.map((word, index) => ({ name: words[index - 1] ?? '', text: word })),
    ...variables.map(([, text = '']) => ({ name: '', text })),
  ];
  const known = variables.flatMap(([name, text = '']) => (/_API_KEY$/.test(name) ? [text.trim()] : []));
  const typed = known.filter((key) => key.length >= shortest && words.some((word) => `=${word}`.endsWith(`=${key}`)));
  const keys = [...typed, ...places.flatMap(({ name, text }) => keysIn(name, text, names))];
  if (keys.length === 0) return (text) => text;
  const longestFirst = [...new Set(keys)].sort((one, other) => other.length - one.length);
  const hide = new RegExp(longestFirst.map((key) => key.replace(/[^\w]/g, '\\$&')).join('|'), 'gi');
  return (text) => text.replace(hide, '[hidden: it looks like a key]');
}

/** A shorter word occurs in every text: hiding it would reveal it, and garble the rest. */
const shortest = 4;

/** The texts to hide for one value: the value itself, and those of its pieces that messages show alone. */
function keysIn(name: string, text: string, names?: ReadonlySet<string>): readonly string[] {
  const [, label = '', behind = text] = /^([^=]*)=(?!=*$)(.+)$/s.exec(text) ?? [];
  // Messages show `-kVALUE` without its letter.
  const values = /^-\w/.test(text) ? [label, behind, text.slice(2)] : [label, behind];
  const isNamed = speaksOfKey.test(label || name) && !behind.startsWith('-') && !isPath(behind);
  return values.flatMap((value) => {
    if (value.length < shortest || (names?.has(value) && !/^[a-z\d]{32}$/i.test(value))) return [];
    if (value === behind && isNamed) return [value];
    return looksLikeKey(value)
      ? [value, ...pieces.flatMap((piece) => value.match(piece) ?? []).filter(looksLikeKey)]
      : [];
  });
}

/** Pieces of a URL or list that messages show alone: base64, base64 without signs that join, letters and digits. */
const pieces = [/[\w+/=~-]{20,}/g, /[\w+~-]{20,}/g, /[a-z\d]{20,}/gi];

/** The name of an option for a key, or of one of the two settings that are passwords. */
const speaksOfKey = /^(?:-k$|-.*(?:key|token|secret|passw)|(?:old|new)[_-]password$)/i;

/** A run of 20 letters and digits, two of each; or 24 signs of a key with small letters, capitals, two digits. */
export function looksLikeKey(value: string): boolean {
  if (isPath(value)) return false;
  const runs = value.match(/[a-z\d]{20,}/gi) ?? [];
  return runs.some((run) => /\d.*\d/.test(run) && /[a-z].*[a-z]/i.test(run)) || wholeKey.test(value);
}

const wholeKey = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d.*\d)[A-Za-z0-9+/_=-]{24,}$/;

function isPath(value: string): boolean {
  return /^(?:\.{0,2}[/\\]|~|[a-z]:[/\\])|\.(?:csv|tsv|txt|json|ndjson|xlsx)$/i.test(value);
}
