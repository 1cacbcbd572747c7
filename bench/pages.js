// Serves pages of messages at almost no cost: each answer is a copy of one of eight made-up pages of a thousand
// messages, with its ids written over. `node bench/pages.js COUNT` prints its address, and serves until it is killed.
// GET /messages forward only, with the anchor unless `include_anchor` is false; GET /v1/license/ has COUNT licenses,
// each of another user, or those that were made by POST: the embedded sandbox looks each user up in all of them, which
// takes minutes for 100,000.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const count = Number(process.argv[2] ?? 20_000);
const pageSize = 1000;
const senders = ['Release Bot', 'Ada Sigurds', 'Harbour Bot'];
const words =
  'measurement stored battery at 81 percent signal strong next look in an hour Zürich harbour → <strong>clinic-north</strong> 🙂 said \\"why not\\" <br>\\n <a href=\\"https://docs.example/page\\">page</a> &amp; log 4711 sensor'.split(
    ' ',
  );

/**
 * Texts that differ in words and length, as people's do: one text again and again would be read once
 * (docs/internals/architecture.md).
 */
let state = 1;
/** @param {number} below */
function drawn(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 4_294_967_296) * below);
}
const sentence = () => Array.from({ length: 5 + drawn(90) }, () => words[drawn(words.length)]).join(' ');

const firstId = 10_000_001;
/** @param {number} index */
const message = (index) =>
  `{"id":${firstId},"sender_id":${13 + (index % 3)},"content":"<p>${sentence()}</p>","recipient_id":21,"timestamp":${1773388800 + index * 37},"client":"load","subject":"load","topic_links":[],"is_me_message":false,"reactions":[],"submessages":[],"flags":["read"],"sender_full_name":"${senders[index % 3]}","sender_email":"release-bot@harbour.example","sender_realm_str":"harbour","display_recipient":"general","type":"stream","stream_id":1,"avatar_url":null,"content_type":"text/html","edit_history":[{"timestamp":1773388900,"user_id":13,"prev_content":"Measurement stored"}],"last_edit_timestamp":1773388900}`;
const idAt = '{"id":'.length;
const pages = Array.from({ length: 8 }, () => {
  const messages = Array.from({ length: pageSize + 1 }, (_, index) => Buffer.from(message(index)));
  const starts = [0];
  for (const { length } of messages) starts.push((starts.at(-1) ?? 0) + length + 1);
  return { bytes: Buffer.from(messages.join(',')), starts };
});

const created = '2026-02-11T11:30:00Z';
/** @param {number} index */
const codeOf = (index) =>
  index
    .toString()
    .padStart(20, '0')
    .replace(/(.{5})(?=.)/g, '$1-');

/** @param {number} place from 1 on */
function licensePage(place) {
  const first = (place - 1) * pageSize;
  const results = Array.from({ length: Math.max(0, Math.min(pageSize, count - first)) }, (_, index) => ({
    license_code: codeOf(first + index),
    remote_user: `clinic-${index % 97}/patient-${first + index}`,
    app_code: 4711,
    size_allowance: 1 + (index % 18),
    created,
  }));
  return { count, next: first + pageSize < count ? `/v1/license/?page=${place + 1}` : null, results };
}

/** By user. @type {Map<string, object>} */
const made = new Map();

/** @param {string} body */
function make(body) {
  const license = { license_code: codeOf(made.size), ...JSON.parse(body), created };
  made.set(license.remote_user, license);
  return license;
}

/** @param {URLSearchParams} query */
function listed(query) {
  const user = query.get('remote_user');
  if (user !== null) return [made.get(user)].filter((license) => license !== undefined);
  return made.size > 0 ? [...made.values()] : licensePage(Number(query.get('page') ?? 1));
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/v1/license/') {
    const isPost = request.method === 'POST';
    const answer = JSON.stringify(isPost ? make(await text(request)) : listed(searchParams));
    response.writeHead(isPost ? 201 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    });
    response.end(answer);
    return;
  }
  const anchor = searchParams.get('anchor') ?? 'oldest';
  const isOldest = anchor === 'oldest';
  const withAnchor = !isOldest && searchParams.get('include_anchor') !== 'false';
  const from = isOldest ? firstId : Number(anchor) + (withAnchor ? 0 : 1);
  const asked = Math.min(Number(searchParams.get('num_after')), pageSize) + (withAnchor ? 1 : 0);
  const size = Math.max(0, Math.min(asked, firstId + count - from));
  const isLast = from + size >= firstId + count;
  const { bytes, starts } = pages[Math.floor((from - firstId) / pageSize) % pages.length] ?? {
    bytes: Buffer.alloc(0),
    starts: [],
  };
  const rows = Buffer.from(bytes.subarray(0, Math.max(0, (starts[size] ?? 0) - 1)));
  for (let index = 0; index < size; index += 1) rows.write(String(from + index), (starts[index] ?? 0) + idAt, 'latin1');
  const [head, tail] = [
    '{"result":"success","msg":"","messages":[',
    `],"found_oldest":false,"found_newest":${isLast},"history_limited":false}`,
  ];
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': head.length + rows.length + tail.length,
  });
  response.write(head);
  response.write(rows);
  response.end(tail);
});
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${address.port}`);
});
