import type { ChatCall } from './chat-call.ts';
import { Refusal } from './refusal.ts';

/** Reads the text of one parameter. @throws Refusal */
export type Reader<T> = (name: string, text: string) => T;
export type Signature = Readonly<Record<string, Reader<unknown>>>;
type Read<S extends Signature> = { readonly [K in keyof S]?: ReturnType<S[K]> };

/**
 * The parameters of a request, checked one after another in the order of the signature; only the first fault is
 * reported. A name is looked up in the form, then in the query; the last of a repeated name counts (docs/apis.md,
 * Envelope and errors). Names that the signature does not have are noted as ignored.
 * @throws Refusal
 */
export function readParameters<S extends Signature>(call: ChatCall, signature: Partial<S>): Read<S> {
  const { form, query } = call.request;
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Reader<unknown> | undefined>(signature)) {
    const text = form.getAll(name).at(-1) ?? query.getAll(name).at(-1);
    if (read && text !== undefined) values[name] = read(name, text);
  }
  const names = [...form.keys(), ...query.keys()];
  for (const name of names) if (name !== 'client' && !Object.hasOwn(signature, name)) call.ignored.add(name);
  return values as Read<S>;
}

/** @throws Refusal where the parameter was not sent */
export function required<T>(name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new Refusal(`Missing '${name}' argument`, { code: 'REQUEST_VARIABLE_MISSING', extra: { var_name: name } });
}

export const plain: Reader<string> = (_name, text) => text;

/** JSON text of any shape. */
export const jsonValue: Reader<unknown> = (name, text) => {
  const mark = (token: string) => (/^-?\d+(?:\.|[eE])/.test(token) ? String(fraction) : token);
  try {
    return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, mark));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new Refusal(`${name} is not valid JSON`);
    throw cause;
  }
};

/** Numbers with a point or an exponent: the server's parser keeps `5.0` and `5` apart. */
const fraction = 0.5;

/** JSON text of a value that `read` takes. */
function ofJson<T>(read: (name: string, value: unknown) => T): Reader<T> {
  return (name, text) => read(name, jsonValue(name, text));
}

export function booleanOf(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Refusal(`${name} is not a boolean`);
  return value;
}

function integerOf(name: string, value: unknown): number {
  if (typeof value !== 'number' || value === fraction) throw new Refusal(`${name} is not an integer`);
  return value;
}

function naturalOf(name: string, value: unknown): number {
  const number = integerOf(name, value);
  if (number < 0) throw new Refusal(`${name} is too small`);
  return number;
}

export const boolean = ofJson(booleanOf);
export const integer = ofJson(integerOf);
export const natural = ofJson(naturalOf);
/** Undefined for `null`: the parameter is not given. */
export const naturals = ofJson((name, value): readonly number[] | undefined => {
  if (value === null) return undefined;
  if (!Array.isArray(value)) throw new Refusal(`${name} is not a list`);
  return value.map((item: unknown, index) => naturalOf(`${name}[${index}]`, item));
});
/** A string that early levels want as JSON. */
export const jsonString = ofJson((name, value): string => {
  if (typeof value !== 'string') throw new Refusal(`${name} is not a string`);
  return value;
});

/** One of the listed values. */
export function among<T>(read: Reader<T>, choices: readonly T[]): Reader<T> {
  return (name, text) => {
    const value = read(name, text);
    if (!choices.includes(value)) throw invalid(name, 'Not in the list of possible values');
    return value;
  };
}

export function invalid(name: string, reason: string): Refusal {
  return new Refusal(`Invalid ${name}: Value error, ${reason}`);
}

/** As Python's `str.strip`: other than `trim` it leaves U+FEFF, and takes U+001C to U+001F and U+0085. */
export function strip(text: string): string {
  const isBlank = (at: number) => /^[\s\x1c-\x1f\x85]$/.test(text.charAt(at)) && text.charAt(at) !== '\ufeff';
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}
