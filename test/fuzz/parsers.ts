import { Answer } from '../../src/api/http/answer.ts';
import { pageEnd } from '../../src/api/licensing/page-end.ts';
import { formatDuration, parseDuration } from '../../src/core/duration.ts';
import { Failure } from '../../src/core/failure.ts';
import { elementsOf } from '../../src/core/json-elements.ts';
import { parseJson, writeJson } from '../../src/core/json.ts';
import { momentText, parseMoment } from '../../src/core/moment.ts';
import { htmlReader } from '../../src/output/messages/html-text.ts';
import { harmful } from '../../src/output/plain.ts';
import { readLink } from '../../src/schema/link.ts';
import { rosterFields } from '../../src/schema/license.ts';
import { narrowTerm, termLevel } from '../../src/schema/narrow.ts';
import { oncePerUser, readRoster } from '../../src/store/roster/read-roster.ts';

/** A parser of words from outside: where it begins, and what must be so of each text that it is given. */
export interface Parser {
  readonly seeds: readonly string[];
  /** @throws Error for what is wrong: anything but a failure that the parser documents */
  readonly attempt: (text: string) => unknown;
}

function holds(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

/** What the work returns; undefined where it fails in a way that it may. */
function allowing<T>(
  work: () => T,
  isAllowed = (cause: unknown) => cause instanceof Failure && cause.kind === 'usage',
) {
  try {
    return { value: work() };
  } catch (cause) {
    if (!isAllowed(cause)) throw cause;
    return undefined;
  }
}

const isSyntax = (cause: unknown): boolean => cause instanceof SyntaxError;
const calendar = { now: () => Date.parse('2026-03-16T09:00:00Z'), checkZone: () => undefined };
const readHtml = htmlReader({ time: (moment) => moment, resolve: (link) => link });
const completion = <R extends { readonly app_code?: number }>() =>
  Promise.resolve((row: R) => ({ ...row, app_code: row.app_code ?? 7 }));

function jsonElements(text: string): void {
  const bytes = Buffer.from(text);
  // A decoder drops a byte order mark, as answers are read.
  const parsed = allowing(() => parseJson(new TextDecoder().decode(bytes)), isSyntax);
  const whole = allowing(() => elementsOf(bytes, 'rows'), isSyntax);
  holds(whole === undefined || parsed !== undefined, 'elementsOf takes what is not JSON');
  if (parsed) holds(writeJson(parseJson(writeJson(parsed.value))) === writeJson(parsed.value), 'JSON changes');
}

const roster = (format: 'csv' | 'json' | 'ndjson') => async (text: string) => {
  const source = { file: `roster.${format}`, bytes: Buffer.from(text), format };
  const read = readRoster(source, { fields: rosterFields, ...oncePerUser, completion });
  const result = await read.catch((cause: unknown) => {
    if (cause instanceof Failure && cause.kind === 'usage') return undefined;
    throw cause;
  });
  holds(result === undefined || result.rows.length === result.lines.length, 'rows and lines differ');
};

function moment(text: string): void {
  const span = allowing(() => parseDuration(text))?.value;
  if (span !== undefined) {
    holds(Number.isFinite(span) && span >= 0, `a span of ${span}`);
    formatDuration(span);
  }
  const time = allowing(() => parseMoment(text, calendar))?.value;
  if (time === undefined) return;
  const written = momentText(time);
  holds(parseMoment(written, calendar) === Math.floor(time / 1000) * 1000, `${time} is written as ${written}`);
}

function linkHeader(text: string): void {
  const http = { method: 'GET', url: 'https://api.test/v1/license/', status: 200 };
  pageEnd(new Answer(http, { link: text }, Buffer.from('[]')));
}

function html(text: string): void {
  holds(!harmful().test(readHtml(text).replaceAll('\n', '')), 'a control character comes through');
}

function narrow(text: string): void {
  const link = allowing(() => readLink(text, 'https://chat.test'))?.value;
  const [operator = '', ...operand] = text.split(':');
  for (const term of [...(link?.terms ?? []), narrowTerm(operator, operand.join(':'))]) {
    termLevel(term.operator, term.operand);
    holds(Array.isArray(term.operand) || ['string', 'number'].includes(typeof term.operand), 'an operand of no kind');
  }
}

export const parsers: Readonly<Record<string, Parser>> = {
  'JSON elements': {
    seeds: [
      '{"rows":[{"id":1,"name":"a\\u00e9\\n"},{"id":12,"name":null}],"n":-1.5e+3,"t":[true,false]}',
      '[{"id":9007199254740993}]',
      '\ufeff[0]',
    ],
    attempt: jsonElements,
  },
  'a roster of CSV': {
    seeds: [
      'sep=;\r\nRemote User;"size_allowance";x\r\nada;4;"a""b"\r\n',
      'remote_user,size_allowance,app_code\nada,4,7\n\nbo,18,\n',
    ],
    attempt: roster('csv'),
  },
  'a roster of JSON': {
    seeds: ['[{"remote_user":"ada","size_allowance":4},{"remote_user":"bo","size_allowance":"18","app_code":7}]'],
    attempt: roster('json'),
  },
  'a roster of NDJSON': {
    seeds: ['{"remote_user":"ada","size_allowance":4}\n\n{"remote_user":"bo","size_allowance":18}\n'],
    attempt: roster('ndjson'),
  },
  'durations and times': {
    seeds: '7d|1h30m|1.5s|500ms|2026-02-28T23:59:59.5+01:00|yesterday 10:00|monday|2026-01-01|3mo|1y|09:30'.split('|'),
    attempt: moment,
  },
  'the Link header': {
    seeds: [
      '<https://api.test/v1/license/?page=2>; title="more, and more"; rel="last next", </x>; rel=prev',
      "<?p=2>; REL='next'",
    ],
    attempt: linkHeader,
  },
  'HTML to text': {
    seeds: [
      '<p>a <strong>b</strong><br>c <a href="/x">d</a></p><ul><li>e<ol start="3"><li>f</li></ol></li></ul><blockquote><p>g</p></blockquote>',
      '<table><thead><tr><th align="right">h</th></tr></thead><tbody><tr><td colspan="2">i</td></tr></tbody></table>',
      '<div class="codehilite"><pre><code>x\n</code></pre></div><span class="emoji emoji-1f600" title="grin">:grin:</span><time datetime="2026-01-01T00:00:00Z">t</time><div class="spoiler-block"><div class="spoiler-header">s</div></div>',
      '<span class="user-mention" data-user-id="7">@Ada</span><span class="katex"><annotation encoding="application/x-tex">x^2</annotation></span><img alt=":a:" src="x">&lt;&#8203;&amp;',
    ],
    attempt: html,
  },
  'a narrow': {
    seeds: [
      'channel:id:7',
      'dm:1,2',
      'with:12',
      'https://chat.test/#narrow/channel/31-bulk/topic/every.20shape/near/256002',
      '#**bulk>every shape**',
      'is:muted',
      '#narrow/dm/9,10-group',
    ],
    attempt: narrow,
  },
};
