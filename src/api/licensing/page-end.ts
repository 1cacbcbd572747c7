import { isObject, jsonIn, type JsonObject } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import { isSaid } from './license-answer.ts';

/** What a page of a list says of the rows after it (docs/exactly-once.md, Whole lists). */
export interface PageEnd {
  /** The URL of the next page, told apart by its query. */
  readonly next: string | undefined;
  /** The URL of a next page without a query: its path says which page it is. */
  readonly nextPath: string | undefined;
  /** A sign of more rows that cannot be followed, such as a number, a token or a flag, in words. */
  readonly more: string | undefined;
  /** The sign of more rows is a flag, a number or a path, and not a text that may be in every response. */
  readonly hasMore: boolean;
  /** How many rows there are in all; 0 where the server does not say it. */
  readonly total: number;
  readonly pages: number;
  /** The most rows of a page; 0 where it is not named, or the response says where the list ends. */
  readonly limit: number;
}

/** A name without the marks between its words, and its value. */
type PageEntry = readonly [name: string, value: unknown];

const nextName =
  /^(odata|hydra|has|is)*next(page|url|link|href|uri|token|cursor|offset|start|marker|id|key|number|index|results|records|items)*$/;
const moreName =
  /^((has|is|thereare)?more(pages|results|items|rows|records|data|available)?|(is)?(truncated|incomplete|partial)(results)?|continu(e|ation)(token)?|lastevaluatedkey)$/;
const totalName =
  /^(total|totalelements|(total|num|number|numberof)(count|results|items|rows|records|entries|hits|licenses|found)|(items?|results?|rows?|records?|entries|licenses?)(count|total)|totalcount|hydratotalitems|odatacount|contentrange)$/;
/** The most rows of a page: a `count` that equals it may be of the page alone. */
const limitName = /^(limit|size|pagesize|perpage)$/;
const lastName = /^(is)?last(page)?$/;
const pagesName = /^((total|num|numberof|last)pages?|pages?(count|total)|pages)$/;
/** Such a name says whether there are more rows, or how many, also where its value is none; so do links. */
const endNames = [nextName, moreName, lastName, totalName, pagesName, /links?$/];
/** Where servers put paging beside the rows. */
const placeName =
  /^(links?|meta(data)?|pagination|paging|pager|paginator|page(info)?|responsemetadata|resultinfo|cursors?|(hydra)?view)$/;

export function pageEnd({ status, headers, body }: Answer): PageEnd {
  const entries = [...entriesIn(body), ...headerEntries(headers)];
  const valuesOf = (name: RegExp): unknown[] => entries.flatMap(([key, value]) => (name.test(key) ? [value] : []));
  const links = valuesOf(nextName).filter(isSign);
  const urls = links.flatMap((link) => urlOf(link) ?? []);
  const partial = status === 206 && rangeTotal(headers['content-range']) === undefined;
  const isNotLast = valuesOf(lastName).includes(false);
  const isEndSaid = entries.some(([name]) => endNames.some((names) => names.test(name)));
  const cursors = isEndSaid ? [] : valuesOf(/^cursor$/);
  const signs = [...links, ...valuesOf(moreName), partial && 206, isNotLast, ...cursors].filter(isSign);
  const nextPath = urls.find((url) => !url.includes('?') && /^(https?:\/)?\//i.test(url));
  const counts = valuesOf(/^count$/).filter((count) => !valuesOf(limitName).includes(count));
  return {
    next: urls.find((url) => url.includes('?')),
    nextPath,
    hasMore: nextPath !== undefined || signs.some((sign) => sign === true || typeof sign === 'number'),
    more: signs.length > 0 ? `its response says ${JSON.stringify(signs[0])}` : undefined,
    total: highest([...valuesOf(totalName), ...counts]),
    pages: highest(valuesOf(pagesName)),
    limit: isEndSaid ? 0 : highest(valuesOf(/^(limit|pagesize|perpage)$/)),
  };
}

/** The entries of an answer beside its rows, and of the objects in it that speak of paging. */
function entriesIn(body: unknown, depth = 0): PageEntry[] {
  if (!isObject(body) || depth > 2) return [];
  return Object.entries(body).flatMap(([key, value]) => {
    const name = plainName(key);
    const inner = placeName.test(name) ? (Array.isArray(value) ? relations(value) : entriesIn(value, depth + 1)) : [];
    return [[name, value], ...inner];
  });
}

/** `[{ "rel": "next", "href": … }]` */
function relations(links: readonly unknown[]): PageEntry[] {
  return links.filter(isObject).flatMap((link) => {
    const { rel = link['relation'] } = link;
    const names: unknown[] = Array.isArray(rel) ? rel : [rel];
    return names.includes('next') ? [['next', link]] : [];
  });
}

function headerEntries(headers: Answer['headers']): PageEntry[] {
  const { link } = headers;
  const linked = link === undefined ? [] : linkedNext(link).map((url): PageEntry => ['next', url]);
  const others = Object.entries(headers).flatMap(([key, value]): PageEntry[] => {
    const name = plainName(key).replace(/^(x|wp)+/, '');
    if (typeof value !== 'string') return [];
    if (name === 'contentrange') return [[name, rangeTotal(value)]];
    if (name === 'pagination') return entriesIn(jsonIn(value)?.value);
    return [[name.replace(/^pagination/, ''), ['0', 'false', 'null'].includes(value) ? null : value]];
  });
  return [...linked, ...others];
}

/** Recognizes a member that is about paging, and so holds no rows. */
export function isOfPaging(name: string): boolean {
  return placeName.test(plainName(name));
}

function plainName(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The number of all rows; undefined where the header is not there, or leaves it open with `*`. */
function rangeTotal(header: Answer['headers'][string]): number | undefined {
  const total = typeof header === 'string' ? /\/\s*(\d+)\s*$/.exec(header)?.[1] : undefined;
  return total === undefined ? undefined : Number(total);
}

/** Recognizes a sign of more rows; an empty link and the number 0 are none. */
function isSign(value: unknown): boolean {
  const link = isObject(value) ? hrefOf(value) : undefined;
  return link === undefined ? isSaid(value) && value !== 0 : isSign(link);
}

function hrefOf(link: JsonObject): unknown {
  return ['href', 'url', 'uri'].map((name) => link[name]).find((value) => value !== undefined);
}

/** The URL of a next page. A text that is not a URL is a token, which we cannot send back. */
function urlOf(value: unknown): string | undefined {
  const url = isObject(value) ? hrefOf(value) : value;
  return typeof url === 'string' && URL.canParse(url, 'http://page.invalid') ? url : undefined;
}

/** Numbers, also written as text or as `{ "value": 30 }`; 0 where there is none. */
function highest(values: readonly unknown[]): number {
  const numbers = values.map((value) => {
    const said = isObject(value) ? value['value'] : value;
    return typeof said === 'string' && /^\d+$/.test(said) ? Number(said) : said;
  });
  return Math.max(0, ...numbers.filter((value) => typeof value === 'number'));
}

/** The links of the header (RFC 8288) whose relation is `next`: a URL in angle brackets, then parameters. */
function linkedNext(header: string | readonly string[]): string[] {
  const links = [header]
    .flat()
    .join(',')
    .split(/,(?=\s*<)/);
  return links.flatMap((link) => {
    const [, url = '', relation = ''] = /<([^>]*)>.*?;\s*rel\s*=\s*["']?([^"';]*)/i.exec(link) ?? [];
    return relation.toLowerCase().split(/\s+/).includes('next') ? [url] : [];
  });
}
