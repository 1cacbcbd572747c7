import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { fingerprintOf, numberMap } from '../../core/fingerprint.ts';
import { parseJson, writeJson } from '../../core/json.ts';
import { userKey } from './license-user.ts';

/** A license with the application whose key listed it: a row need not name its own. */
export interface Listed {
  readonly app_code: number | undefined;
  readonly license: License;
}

export interface OwnedLicense extends Listed {
  readonly name: string;
  /** One text for the user of the application. */
  readonly user: string;
}

/** @throws Failure unavailable where the license does not name its user */
export function ownedBy({ license, ...listed }: Listed): OwnedLicense {
  const { remote_user, app_code: own } = license.fields;
  if (remote_user === undefined)
    throw new Failure('unavailable', 'the list does not tell whose the licenses are: there is nothing to compare', {
      hint: 'Look users up one by one: chatelaine license view --remote-user U.',
      retryable: false,
    });
  const name = shownText(remote_user);
  const app_code = own === undefined || own === null ? listed.app_code : Number(own);
  return { license, name, app_code, user: userKey({ remote_user: name, app_code: app_code ?? 0 }) };
}

export function shownText(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}

export type GroupedLicenses = ReturnType<typeof groupsOf>;

const blockBytes = 1024 * 1024;

/**
 * Holds a long list as lines of its values, in blocks outside the heap, which V8 lets grow to twice of what it holds:
 * a million licenses take 120 MB, and 350 MB as objects.
 */
export function keepLicenses() {
  const [blocks, starts]: [Buffer[], number[]] = [[], []];
  let used = blockBytes;
  /** The names of fields; most lists have one shape. */
  const shapes: (readonly string[])[] = [];
  const places = new Map<string, number>();
  const at = (index: number): OwnedLicense => {
    const start = starts[index] ?? 0;
    const [block, from] = [blocks[Math.floor(start / blockBytes)], start % blockBytes];
    const read = parseJson(block?.toString('utf8', from, block.indexOf('\n', from)) ?? '');
    const line: readonly unknown[] = Array.isArray(read) ? read : [];
    const [place, app_code, key, ...values] = line;
    const fields = Object.fromEntries((shapes[Number(place)] ?? []).map((name, column) => [name, values[column]]));
    const license = { key: typeof key === 'string' ? key : undefined, fields };
    return ownedBy({ app_code: typeof app_code === 'number' ? app_code : undefined, license });
  };
  return {
    count: () => starts.length,
    add({ app_code, license: { key, fields } }: Listed): number {
      const names = Object.keys(fields);
      const shape = writeJson(names);
      const place = places.get(shape) ?? shapes.push(names) - 1;
      places.set(shape, place);
      const line = Buffer.from(`${writeJson([place, app_code, key, ...Object.values(fields)])}\n`);
      if (used + line.length > blockBytes) {
        blocks.push(Buffer.alloc(Math.max(blockBytes, line.length)));
        used = 0;
      }
      blocks.at(-1)?.set(line, used);
      used += line.length;
      return starts.push(blocks.length * blockBytes - blockBytes + used - line.length) - 1;
    },
    *all(): Generator<OwnedLicense> {
      for (const index of starts.keys()) yield at(index);
    },
    groupedBy: (textOf: (entry: OwnedLicense) => string) => groupsOf(at, textOf),
  };
}

/** Licenses by a text, such as their key, and by user. The first of a text is in a table only: most have no other. */
function groupsOf(at: (index: number) => OwnedLicense, textOf: (entry: OwnedLicense) => string) {
  const firsts = numberMap();
  const groups = new Map<string, Map<string, number[]>>();
  const groupOf = (text: string): Map<string, number[]> => {
    const group = groups.get(text);
    const first = firsts.get(fingerprintOf(text).number) - 1;
    if (group || first < 0) return group ?? new Map<string, number[]>();
    const entry = at(first);
    // Once in 18,000 lists of a million another text has the same fingerprint.
    return new Map(textOf(entry) === text ? [[entry.user, [first]]] : []);
  };
  return {
    add(index: number, entry: OwnedLicense): void {
      const text = textOf(entry);
      const { number } = fingerprintOf(text);
      if (firsts.get(number) === 0) {
        firsts.set(number, index + 1);
        return;
      }
      const group = groupOf(text);
      if (!group.get(entry.user)?.push(index)) group.set(entry.user, [index]);
      groups.set(text, group);
    },
    of: (text: string, user: string): readonly OwnedLicense[] => groupOf(text).get(user)?.map(at) ?? [],
    /** Of each text that several licenses have those of each user. */
    *several(): Generator<readonly (readonly OwnedLicense[])[]> {
      for (const group of groups.values()) {
        const all = [...group.values()];
        if (all.length > 1 || (all[0]?.length ?? 0) > 1) yield all.map((own) => own.map(at));
      }
    },
  };
}
