// Serves pages of messages at almost no cost: each answer is a copy of one made-up page of a thousand messages, with its ids written
// over. `node bench/pages.js COUNT` prints its address, and serves until it is killed. GET /messages forward from an anchor only.
import { createServer } from 'node:http';

const count = Number(process.argv[2] ?? 20_000);
const pageSize = 1000;
const content = 'Measurement stored, battery at 81 percent, signal strong, next look in an hour. '.repeat(5).trim();
const senders = ['Release Bot', 'Ada Sigurds', 'Harbour Bot'];
/** Of one length, and unlike its neighbours in what differs between messages of a topic. @param {string} id @param {number} index */
const message = (id, index) =>
  `{"id":${id},"sender_id":${13 + (index % 3)},"content":"<p>${content.slice(index % 80)}${content.slice(0, index % 80)}</p>","recipient_id":21,"timestamp":${1773388800 + index * 37},"client":"load","subject":"load","topic_links":[],"is_me_message":false,"reactions":[],"submessages":[],"flags":["read"],"sender_full_name":"${senders[index % 3]}","sender_email":"release-bot@harbour.example","sender_realm_str":"harbour","display_recipient":"general","type":"stream","stream_id":1,"avatar_url":null,"content_type":"text/html","edit_history":[{"timestamp":1773388900,"user_id":13,"prev_content":"Measurement stored"}],"last_edit_timestamp":1773388900}`;
const firstId = 10_000_001;
const template = Buffer.from(
  Array.from({ length: pageSize }, (_, index) => message(String(firstId + index), index)).join(','),
);
const step = message(String(firstId), 0).length + 1;
const idAt = '{"id":'.length;

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const anchor = searchParams.get('anchor') ?? 'oldest';
  const from = anchor === 'oldest' ? firstId : Number(anchor) + 1;
  const size = Math.max(0, Math.min(pageSize, firstId + count - from));
  const isLast = from + size >= firstId + count;
  const rows = Buffer.from(template.subarray(0, Math.max(0, size * step - 1)));
  for (let index = 0; index < size; index += 1) rows.write(String(from + index), index * step + idAt, 'latin1');
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
