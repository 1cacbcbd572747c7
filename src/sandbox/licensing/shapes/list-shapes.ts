import type { SandboxAnswer } from '../../answer.ts';

/** The rows that one answer holds, and where the others are. */
export interface ListPage {
  readonly rows: readonly unknown[];
  /** Rows of the whole list. */
  readonly total: number;
  /** Index of the first row. */
  readonly start: number;
  /** Undefined on the last page. */
  readonly next: PageLink | undefined;
  readonly previous: PageLink | undefined;
}

/** One place in the ways in which servers name it. */
export interface PageLink {
  /** The whole URL. */
  readonly url: string;
  /** Path and query. */
  readonly path: string;
  /** The query with its question mark. */
  readonly query: string;
  /** The first page is 1. */
  readonly number: number;
  readonly token: string;
}

export interface ListShape {
  readonly means: string;
  /** `whole`: all rows are in one answer; `first only`: later pages are empty; `newest`: one page, the last. */
  readonly pages: 'whole' | 'all' | 'first only' | 'newest';
  readonly answer: (page: ListPage) => {
    readonly body: unknown;
    readonly headers?: SandboxAnswer['headers'];
    readonly status?: number;
  };
  /** Licenses change places while the pages are read. */
  readonly motion?: MotionName;
}

/** How licenses of a list change places while its pages are read. */
const motions = {
  front: 'after page 1 the last license moves to the front, as where the list is sorted by the last change',
  end: 'after page 1 its first license moves to the end',
  hidden: 'the first license is on page 1, and not in the list while the other pages are read',
} as const;

export type MotionName = keyof typeof motions;

/** Every shape of a list that can be asked for; `sandbox serve --help` and the manual show them. */
export const listShapes = {
  array: { means: 'an array of all rows', pages: 'whole', answer: ({ rows }) => ({ body: rows }) },
  results: wholeUnder('results'),
  licenses: wholeUnder('licenses'),
  data: wholeUnder('data'),
  items: wholeUnder('items'),
  pages: pageShape('count, next and previous, the last two URLs', ({ total, next, previous }) => ({
    count: total,
    next: next?.url ?? null,
    previous: previous?.url ?? null,
  })),
  'next-path': pageShape('next, a URL without its origin', ({ next }) => ({ next: next?.path ?? null })),
  'next-query': pageShape('next, a query', ({ next }) => ({ next: next?.query ?? null })),
  'next-url': pageShape('next_url, a URL', ({ next }) => ({ next_url: next?.url ?? null })),
  'next-page-url': pageShape('next_page_url, a URL', ({ next }) => ({ next_page_url: next?.url ?? null })),
  'next-links': pageShape('links with a URL under next', ({ next }) => ({ links: { next: next?.url ?? null } })),
  'next-hal': pageShape('_links with an href under next', ({ next }) => ({
    _links: next ? { next: { href: next.url } } : {},
  })),
  'next-rel': pageShape('links as an array of rel and href', ({ next }) => ({
    links: next ? [{ rel: 'next', href: next.url }] : [],
  })),
  'moving-front': moving('front', 'counted'),
  'moving-end': moving('end', 'counted'),
  'moving-hidden': moving('hidden', 'counted'),
  'moving-front-uncounted': moving('front', 'uncounted'),
  'moving-end-uncounted': moving('end', 'uncounted'),
  'moving-hidden-uncounted': moving('hidden', 'uncounted'),
  'next-empty': {
    ...pageShape('next, a URL; the pages after the first have no rows', ({ next }) => ({ next: next?.url ?? null })),
    pages: 'first only',
  },
  cut: cut('first', 'all'),
  'cut-newest': cut('newest', 'newest'),
  'cut-counted': pageShape('count, the number of its rows; nothing says that there are more', ({ rows }) => ({
    count: rows.length,
  })),
  'next-page': pageShape('next_page, a number', ({ next }) => ({ next_page: next?.number ?? null })),
  'next-page-token': pageShape('nextPageToken, to be sent as pageToken', ({ next }) =>
    next ? { nextPageToken: next.token } : {},
  ),
  'has-more': pageShape('has_more, true or false', ({ next }) => ({ has_more: next !== undefined })),
  count: pageShape('count, the number of all rows; nothing names the next page', ({ total }) => ({ count: total })),
  'pagination-total': pageShape('pagination with a total; nothing names the next page', ({ total }) => ({
    pagination: { total },
  })),
  'total-count-header': headerShape('X-Total-Count has the number of all rows', ({ total }) => ({
    'x-total-count': String(total),
  })),
  'content-range': {
    means: '206 with Content-Range where rows are missing, an array of one page',
    pages: 'all',
    answer: ({ rows, start, total }) => ({
      body: rows,
      ...(rows.length < total ? { status: 206 } : {}),
      headers: {
        'content-range': `licenses ${rows.length > 0 ? `${start}-${start + rows.length - 1}` : '*'}/${total}`,
      },
    }),
  },
  'link-header': linkShape('Link with rel="next"', (url) => `<${url}>; rel="next"`),
  'link-header-bare': linkShape('Link with rel=next', (url) => `<${url}>; rel=next`),
  'link-header-single': linkShape("Link with rel='next'", (url) => `<${url}>; rel='next'`),
  'link-header-two-words': linkShape('Link with rel="last next"', (url) => `<${url}>; rel="last next"`),
  'link-header-comma': linkShape(
    'Link with a comma in a parameter before rel',
    (url) => `<${url}>; title="more, and more"; rel="next"`,
  ),
} as const satisfies Readonly<Record<string, ListShape>>;

type Beside = (page: ListPage) => Readonly<Record<string, unknown>>;

function moving(motion: MotionName, counting: 'counted' | 'uncounted'): ListShape {
  const means = `next, a URL; at each second reading, ${motions[motion]}`;
  const next = ({ next }: ListPage) => ({ next: next?.url ?? null });
  const counted = (page: ListPage) => ({ count: page.total, ...next(page) });
  return { ...(counting === 'counted' ? pageShape(`count and ${means}`, counted) : pageShape(means, next)), motion };
}

function wholeUnder(name: string): ListShape {
  return {
    means: `an object with all rows under ${name}`,
    pages: 'whole',
    answer: ({ rows }) => ({ body: { [name]: rows } }),
  };
}

/** An array that a LIMIT of the database has cut. */
function cut(kept: string, pages: ListShape['pages']): ListShape {
  const means = `an array of the ${kept} rows, as many as a page has; nothing says that there are more`;
  return { means, pages, answer: ({ rows }) => ({ body: rows }) };
}

/** An object with one page of rows under `results`. */
function pageShape(means: string, beside: Beside): ListShape {
  return {
    means: `an object with one page under results, and ${means}`,
    pages: 'all',
    answer: (page) => ({ body: { ...beside(page), results: page.rows } }),
  };
}

/** An array of one page; the headers describe the rest. */
function headerShape(means: string, headers: (page: ListPage) => SandboxAnswer['headers']): ListShape {
  return {
    means: `an array of one page; ${means}`,
    pages: 'all',
    answer: (page) => ({ body: page.rows, headers: headers(page) }),
  };
}

function linkShape(means: string, link: (url: string) => string): ListShape {
  return headerShape(means, ({ next }): SandboxAnswer['headers'] => (next ? { link: link(next.url) } : {}));
}
