import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { identityOf, licenseNames, textOf, type License } from './license.ts';
import type { LicensingConnection } from './license-answer.ts';
import { listRows, type LicenseFilter } from './license-list.ts';
import { measureList, type Page } from './list-page.ts';
import { randomName } from './user-licenses.ts';

/** What reads show of a licensing server. No text of it holds a key, a user or the words of the server. */
export interface Observation {
  readonly about: 'pages' | 'count' | 'order' | 'filter' | 'lag' | 'promise';
  readonly detail: string;
  /** What to do, where a rule of the client does not hold there. */
  readonly advice?: string;
}

interface ProbedServer {
  readonly open: () => Promise<LicensingConnection>;
  readonly view: (code: string) => Promise<License>;
  readonly random: () => number;
}

/** Most rows that are read of a list that is longer. */
const mostRows = 2000;

/** Finds out by GET how the server lists, and what follows for the promises. @throws Failure of the first list */
export async function* probeServer(server: ProbedServer): AsyncGenerator<Observation> {
  const list = await readList(server, {});
  const { first, failure } = list;
  if (failure && !first) throw failure;
  if (!first) return;
  const filter = await filterOf(server, list.licenses);
  yield pagesOf(first, list, filter);
  const { total, count } = first;
  const told = `the server tells ${total === count ? 'the number of rows it shows' : 'a number beside the rows of a page'}`;
  yield { about: 'count', detail: total === 0 ? 'the server does not say how many licenses there are' : told };
  yield { about: 'order', detail: await orderOf(server, list.licenses) };
  yield { about: 'filter', ...filters[filter] };
  yield { about: 'lag', detail: await lagOf(server, first, list.licenses) };
  yield { about: 'promise', ...promiseOf(filter, list) };
}

type ProbedList = Awaited<ReturnType<typeof readList>>;

/** `failure`: what kept the list from being whole. */
async function readList({ open }: ProbedServer, filter: LicenseFilter) {
  const licenses: License[] = [];
  const length = measureList();
  const seen: { first?: Page; pages: number } = { pages: 0 };
  let failure: Failure | undefined;
  let isCut = false;
  const heard = (page: Page, place: number): void => {
    length.heard(page, place);
    seen.first ??= page;
    seen.pages = place;
  };
  try {
    for await (const license of listRows(open, filter, 'whole', heard)) {
      isCut = licenses.length === mostRows;
      if (isCut) break;
      licenses.push(license);
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    failure = cause;
  }
  return { licenses, ...seen, isCut, failure, mayBeCut: !isCut && length.mayBeCut() };
}

/** Servers cut lists at such lengths, and their multiples. */
const cutLength = 5;

function pagesOf(
  first: Page,
  { licenses, pages, isCut, failure, mayBeCut }: ProbedList,
  filter: keyof typeof filters,
): Observation {
  const rows = `${quantity(licenses.length, 'license')} on ${quantity(pages, 'page')}`;
  if (mayBeCut && !failure && (filter === 'ignored' || licenses.length % cutLength === 0))
    return { about: 'pages', detail: `${rows}, and no total: the list may be cut there` };
  if (!failure) return { about: 'pages', detail: isCut ? `${rows}, and more that were not read` : `${rows}, whole` };
  const why = first.more === undefined ? '' : '; the server hints at more rows and names no URL for them';
  return { about: 'pages', detail: `${rows}, not whole (${failure.kind})${why}`, advice: showsWhy };
}

/** By what the rows ascend or descend, and whether a second reading has the same order. */
async function orderOf(server: ProbedServer, licenses: readonly License[]): Promise<string> {
  const again = await readList(server, {});
  const [one, two] = [licenses, again.licenses].map((some) => some.map(identityOf).join('\n'));
  const same = one === two ? 'the same in two readings' : 'not the same in two readings';
  if (licenses.length < 3) return `too few licenses to tell it; ${same}`;
  const names = Object.keys(licenses[0]?.fields ?? {});
  const sorted = names.flatMap((name) => {
    const values = licenses.map(({ fields }) => fields[name]);
    if (new Set(values).size < 3) return [];
    if (isAscending(values)) return [`${name} ascending`];
    return isAscending(values.reverse()) ? [`${name} descending`] : [];
  });
  return `${sorted.length > 0 ? sorted.join(', ') : 'by none of the fields'}; ${same}`;
}

function isAscending(values: readonly unknown[]): boolean {
  return values.every((value, index) => {
    const before = index === 0 ? value : values[index - 1];
    if (typeof value === 'string' && typeof before === 'string') return before <= value;
    return typeof value === 'number' && typeof before === 'number' && before <= value;
  });
}

const cutAdvice =
  'Ask who runs the server how long a list may be. license list and license audit show what it lists, no more.';
const showsWhy = 'chatelaine --trace license list shows why.';

const filters = {
  untried: { detail: 'there is no license to try it with', advice: 'Repeat this when there is one.' },
  honoured: { detail: 'a list filtered by a user shows that user alone, and nobody for a name that nobody has' },
  folded: { detail: 'a list filtered by a user shows other spellings of the name too' },
  ignored: { detail: 'the server ignores the filter by user' },
  hiding: {
    detail: 'a list filtered by a user does not show a license that the list without a filter shows',
    advice: 'A second license can be created there. Use neither ensure nor apply, and ask who runs the server.',
  },
  partial: { detail: 'a list filtered by a user is not whole', advice: showsWhy },
  refused: { detail: 'the server refuses a list filtered by a user', advice: showsWhy },
} as const satisfies Record<string, Omit<Observation, 'about'>>;

/** Asks for the user of a listed license, for that name in other letters, and for a name that nobody has. */
async function filterOf(server: ProbedServer, licenses: readonly License[]): Promise<keyof typeof filters> {
  const listed = licenses.find((license) => /[a-z]/i.test(textOf(license, 'remote_user') ?? ''));
  if (!listed) return 'untried';
  const user = textOf(listed, 'remote_user') ?? '';
  const asked = await readList(server, { remote_user: user });
  if (asked.failure) return asked.failure.kind === 'incomplete' ? 'partial' : 'refused';
  const { licenses: nobodys } = await readList(server, { remote_user: randomName(server.random) });
  const shown = new Set(asked.licenses.map(identityOf));
  if (nobodys.some((license) => shown.has(identityOf(license)))) return 'ignored';
  if (!shown.has(identityOf(listed))) return 'hiding';
  const other = user === user.toUpperCase() ? user.toLowerCase() : user.toUpperCase();
  const { licenses: others } = await readList(server, { remote_user: other });
  const names = [...asked.licenses, ...others].map((license) => textOf(license, 'remote_user'));
  return names.every((name, index) => name === (index < asked.licenses.length ? user : other)) ? 'honoured' : 'folded';
}

const cacheHeaders = ['age', 'x-cache', 'cf-cache-status'] as const;

/** Reads alone cannot tell how long after a write a list shows it: only what makes a list an old one. */
async function lagOf({ view }: ProbedServer, first: Page, licenses: readonly License[]): Promise<string> {
  const { headers } = first.answer;
  const cached = cacheHeaders.some((name) => headers[name] !== undefined && headers[name] !== '0');
  const cache = cached ? 'a cache may have answered' : 'no answer says that it comes from a cache';
  const listed = licenses.findLast(({ key }) => key !== undefined);
  if (listed?.key === undefined) return cache;
  try {
    const alone = await view(listed.key);
    const isSame = licenseNames.every((name) => textOf(alone, name) === textOf(listed, name));
    return `${cache}; a license read alone ${isSame ? 'equals' : 'differs from'} its row of the list`;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    return `${cache}; a license of the list cannot be read alone (${cause.kind})`;
  }
}

const settled = 'if the server carries out each request within --settle, which reads cannot show';
const nothing = 'nothing is created: ensure ends with exit code 8, and rows of apply fail';

/** What of "never two" holds (docs/exactly-once.md, Names that servers change). */
function promiseOf(filter: keyof typeof filters, { failure, mayBeCut }: ProbedList): Omit<Observation, 'about'> {
  if (filter === 'untried') return { detail: 'unknown: the filter could not be tried' };
  if (filter === 'hiding') return { detail: 'never two does not hold', advice: filters.hiding.advice };
  if (filter === 'partial' || filter === 'refused' || (filter === 'ignored' && failure)) return { detail: nothing };
  if (filter === 'ignored' && mayBeCut)
    return { detail: `${nothing}, unless --trust-list is given`, advice: cutAdvice };
  if (filter === 'ignored')
    return { detail: `never two: the whole list is read twice before each creation. It holds ${settled}` };
  const partly = failure ? '; the list of all licenses, and so audit, ends with exit code 8' : '';
  return { detail: `never two: the user is looked up before each creation. It holds ${settled}${partly}` };
}
