import { readFileSync } from 'node:fs';
import { addMessage } from '../../src/sandbox/chat/post.ts';
import type { State } from '../../src/sandbox/state.ts';

/** One exchange with a real server of level 372: what was asked, and what it answered. */
export interface Exchange {
  readonly name: string;
  /** A role: see `people`. */
  readonly user: string | null;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly params?: Readonly<Record<string, string>> | null;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

const files = ['narrow', 'messages-params', 'settings', 'single'];

/** All recorded exchanges, with the sandbox's own users, channels and ids in place of the recorded ones. */
export function recordedExchanges(): readonly Exchange[] {
  return files.flatMap((file) =>
    readFileSync(new URL(`../fixtures/real-372/${file}.ndjson`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .map((line) => translated(JSON.parse(line) as Exchange)),
  );
}

/** First names of the sample people in the recorded roles. */
export const people: Readonly<Record<string, string>> = {
  iago: 'mara',
  hamlet: 'tomas',
  cordelia: 'ines',
  othello: 'jonas',
  shiva: 'tomas',
  gone: 'oskar',
  bot: 'release-bot',
  'bot:webhook-bot@zulip.com': 'crash-reports-bot',
};

/** Ids of messages: 27876 and what follows it have these in the sandbox, see `addRecorded`. */
const firstId = 2000;

/** Longest first: a text is replaced where it begins. */
const texts: readonly (readonly [recorded: RegExp, own: string])[] = [
  [/user28@zulipdev\.com/g, 'tomas@harbour.example'],
  [/user29@zulipdev\.com/g, 'user8@harbour.example'],
  [/user26@zulipdev\.com/g, 'user10@harbour.example'],
  [/user42@zulipdev\.com/g, 'oskar@harbour.example'],
  [/gone@zulip\.com/g, 'oskar@harbour.example'],
  [/\bbulk\b/g, 'general'],
  [/\bBULK\b/g, 'GENERAL'],
  [/hamlets own/g, 'clinic-pilot'],
  [/"secret"/g, '"leads"'],
  [/KING hamlet/g, 'TOMÁS ferreira'],
  [/a OR b/g, 'a OR zz'],
  [/slow b/g, 'calibration log'],
  [/\b278(7[6-9]|[89]\d)|279\d\d\b/g, (id: string) => String(Number(id) - 27876 + firstId)],
] as unknown as readonly (readonly [RegExp, string])[];

function translated({ name, user, request, response }: Exchange): Exchange {
  const path = request.path.replace(/\/streams\/(31|33|35)\//, (_all, id: string) => `/streams/${channelIds[id]}/`);
  return {
    name,
    user,
    request: { ...request, path, params: params(request.params) },
    response: { ...response, body: inTexts(response.body) },
  };
}

const channelIds: Readonly<Record<string, number>> = { 5: 55, 31: 1, 33: 4, 35: 6 };
const userIds: Readonly<Record<number, number>> = { 26: 10, 28: 9, 29: 8, 42: 14 };

function params(given: Exchange['request']['params']): Readonly<Record<string, string>> | null {
  if (!given) return null;
  const own = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, inText(value)]));
  if (own['narrow'] !== undefined) own['narrow'] = narrow(own['narrow']);
  return own;
}

/** Ids inside of a narrow hang on the operator. */
function narrow(text: string): string {
  return text
    .replace(/("operator": "(?:channel|stream)", "operand": )"?(5|31)"?(?=[,}])/g, (all, head: string, id: string) =>
      all.replace(head, '').includes('"') ? `${head}"${channelIds[id]}"` : `${head}${channelIds[id]}`,
    )
    .replace(
      /("operator": "(?:sender|dm|pm-with|dm-including|group-pm-with)", "operand": )(\[[^\]]*\]|\d+)/g,
      (_all, head: string, ids: string) =>
        head + ids.replace(/\b(26|28|29|42)\b/g, (id) => String(userIds[Number(id)])),
    );
}

function inTexts(value: unknown): unknown {
  if (typeof value === 'string') return ids(inText(value));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === 'msg' || key === 'desc' ? inTexts(item) : item]),
  );
}

/** Ids in the words of an error. */
function ids(text: string): string {
  return text
    .replace(/unknown channel (5|31)$/, (_all, id: string) => `unknown channel ${channelIds[id]}`)
    .replace(/unknown user in \[.*\]$/, (all) =>
      all.replace(/\b(26|28|29|42)\b/g, (id) => String(userIds[Number(id)])),
    );
}

function inText(text: string): string {
  return texts.reduce((all, [recorded, own]) => all.replace(recorded, own), text);
}

/** What the recorded exchanges speak of and the sample lacks. */
export function addRecorded(state: State): void {
  const say = (place: object, content: string, more: object = {}) =>
    addMessage(state, { ...{ stream_id: 1, subject: 'rich', sender_id: 9 }, content, ...place, ...more }, now);
  for (const sender_id of [8, 9, 10]) {
    for (let number = 0; number < 60; number += 1) {
      const stream_id = sender_id === 10 ? 7 : 1;
      say({ stream_id, subject: 'mid 5', sender_id }, `message number ${number} of mid 5: lorem **bold ${number}**`);
    }
  }
  say({ stream_id: 7, subject: 'plans', sender_id: 10 }, 'next year', { flags: { 8: [] } });
  say({ stream_id: 1, subject: 'mid 0' }, 'soon gone');
  say({ stream_id: 3, subject: '✔ done', sender_id: 10 }, 'resolved');
  const pattern = state.messages.rows().find(({ stream_id }) => stream_id === 1);
  for (const id of [1, 2, 3, 6, 7, 8, 9]) if (pattern) state.messages.put(id, { ...pattern, id, subject: 'first' });
  state.counters.put('message', firstId - 1);
  const reactions = [{ emoji_name: 'smile', emoji_code: '1f642', reaction_type: 'unicode_emoji' as const, user_id: 8 }];
  say({}, 'hello **there**', { reactions, flags: { 8: ['starred'] } });
  const edit_history = [{ user_id: 9, timestamp: 1, prev_content: 'x', prev_rendered_content: '<p>x</p>' }];
  for (let id = firstId + 1; id < firstId + 17; id += 1) say({}, `kind ${id}`, { flags: { 8: [] } });
  say({ stream_id: undefined, subject: '', people: [8, 9] }, 'hello Mara');
  say({ stream_id: undefined, subject: '', people: [8, 9], sender_id: 8 }, 'good morning');
  say({ stream_id: undefined, subject: '', people: [8, 9, 10] }, 'good evening');
  say({ stream_id: undefined, subject: '', people: [8], sender_id: 8 }, 'note to myself');
  say({}, 'edited', { edit_history, last_edit_timestamp: 1 });
  say({ stream_id: 4, subject: 'diary' }, 'my own');
  for (let id = firstId + 23; id < firstId + 26; id += 1) say({}, `kind ${id}`, { flags: { 8: [] } });
  say({ subject: 'see https://example.org/x now', sender_id: 8 }, 'linkish topic');
  say({}, '@**Mara Lindqvist**', { flags: { 8: ['mentioned'] } });
  say({}, 'alert', { flags: { 8: ['has_alert_word'] } });
  say({}, '[plan.png](/user_uploads/1/plan.png)');
  say({ subject: '', sender_id: 8 }, 'hullabaloo empty');
}

const now = Date.UTC(2026, 2, 14);

/** The channel whose history was recorded as limited: ids 1101 to 20100, and nothing else. */
export function benchOnly(visible: number): (state: State) => void {
  return (state) => {
    for (const { id } of state.messages.rows()) state.messages.remove(id);
    state.channels.put(9, {
      ...{ stream_id: 9, name: 'bench', recipient_id: 109, privacy: 'public', shared_history: true, archived: false },
      subscribers: [{ user_id: 8, since: 0 }],
      muted_by: [],
    });
    const common = {
      timestamp: 1,
      sender_id: 8,
      content: 'x',
      rendered: '<p>x</p>',
      client: 'website',
      recipient_id: 109,
    };
    for (let id = 1101; id <= 20100; id += 1) {
      const subject = id < 1110 ? 'topic 00' : 'topic 01';
      state.messages.put(id, { ...common, id, subject, stream_id: 9, flags: {}, reactions: [] });
    }
    const organization = state.organization.get('chat');
    if (organization) state.organization.put('chat', { ...organization, first_visible_message_id: visible });
  };
}
