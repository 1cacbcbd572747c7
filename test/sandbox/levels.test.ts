import { expect, test } from 'vitest';
import { isObject } from '../../src/core/json.ts';
import { started } from './start.ts';

const narrow = (operator: string, operand: unknown) =>
  `GET /messages?anchor=newest&num_before=1&num_after=0&narrow=${JSON.stringify([{ operator, operand }])}`;
const set = (name: string, value: string) => `PATCH /settings?${name}=${value}`;
const unknown = (what: string) => `Invalid narrow operator: unknown ${what}`;
const notOwn = 'Value error, Not in the list of possible values';

/** What an answer has at each border: one level below it, and at it (docs/apis.md, Feature levels). */
test.each<[level: number, request: string, place: string, below: unknown, from: unknown]>([
  [1, 'GET /server_settings', 'zulip_feature_level', undefined, 1],
  [1, 'GET /server_settings', 'zulip_version', '2.1.8', '3.0'],
  [26, 'GET /messages/1391', 'message.sender_short_name', 'mara', undefined],
  [27, 'GET /server_settings', 'zulip_version', '3.0', '3.4'],
  [36, '429 GET /users/me', 'code', undefined, 'RATE_LIMIT_HIT'],
  [63, 'PATCH /settings/display?default_language=de', 'msg', 'default_language is not valid JSON', ''],
  [
    63,
    'PATCH /settings/display?default_language=5',
    'msg',
    'default_language is not a string',
    'Invalid default_language',
  ],
  [63, 'PATCH /settings/notifications?notification_sound=up', 'msg', 'notification_sound is not valid JSON', ''],
  [64, 'PATCH /settings/display?emojiset=text', 'msg', 'emojiset is not valid JSON', ''],
  [64, 'PATCH /settings/display?timezone=UTC', 'msg', 'timezone is not valid JSON', ''],
  [65, 'GET /server_settings', 'zulip_version', '3.4', '4.11'],
  [76, 'GET /get_stream_id?stream=x', 'code', undefined, 'BAD_REQUEST'],
  [78, 'PATCH /settings/display?color_scheme=2', 'color_scheme', 2, undefined],
  [80, set('color_scheme', '2'), 'ignored_parameters_unsupported.0', 'color_scheme', undefined],
  [88, 'GET /server_settings', 'zulip_merge_base', undefined, '4.11'],
  [89, 'POST /register', 'user_settings.color_scheme', undefined, 1],
  [
    92,
    'GET /messages?anchor=1392&num_before=0&num_after=0',
    'messages.0.avatar_url',
    expect.stringContaining('https'),
    null,
  ],
  [115, 'GET /server_settings', 'zulip_version', '4.11', '5.7'],
  [116, 'GET /server_settings', 'realm_web_public_access_enabled', undefined, false],
  [118, 'GET /messages/1432', 'message.edit_history.0.prev_subject', '2.9.0', undefined],
  [118, 'GET /messages/1432', 'message.edit_history.0.prev_topic', undefined, '2.9.0'],
  [148, 'GET /server_settings', 'zulip_version', '5.7', '6.2'],
  [155, 'GET /messages?anchor=1391&num_before=0&num_after=1&include_anchor=false', 'messages.0.id', 1391, 1392],
  [167, 'GET /users/me?alpha=1', 'ignored_parameters_unsupported.0', undefined, 'alpha'],
  [
    168,
    set('realm_name_in_notifications', 'true'),
    'ignored_parameters_unsupported.0',
    undefined,
    'realm_name_in_notifications',
  ],
  [177, narrow('dm', 'user8@harbour.example'), 'msg', unknown('operator dm'), ''],
  [177, narrow('dm-including', 'user8@harbour.example'), 'msg', unknown('operator dm-including'), ''],
  [177, narrow('is', 'dm'), 'msg', unknown("'is' operand dm"), ''],
  [185, 'GET /server_settings', 'zulip_version', '6.2', '7.5'],
  [194, narrow('id', 1391), 'msg', 'Invalid narrow operator: Invalid message ID', ''],
  [219, set('default_view', 'inbox'), 'ignored_parameters_unsupported.0', undefined, 'default_view'],
  [219, set('web_home_view', 'inbox'), 'ignored_parameters_unsupported.0', 'web_home_view', undefined],
  [224, 'GET /messages/1396', 'message.flags.1', 'wildcard_mentioned', 'stream_wildcard_mentioned'],
  [227, set('desktop_icon_count_display', '4'), 'msg', `Invalid desktop_icon_count_display: ${notOwn}`, ''],
  [237, 'GET /server_settings', 'zulip_version', '7.5', '8.5'],
  [249, narrow('has', 'reaction'), 'msg', unknown("'has' operand reaction"), ''],
  [250, narrow('channel', 'general'), 'msg', unknown('operator channel'), ''],
  [250, narrow('channels', 'public'), 'msg', unknown('operator channels'), ''],
  [257, 'GET /server_settings', 'realm_url', undefined, expect.stringContaining('http')],
  [265, narrow('is', 'followed'), 'msg', unknown("'is' operand followed"), ''],
  [271, narrow('with', '1001'), 'msg', unknown('operator with'), ''],
  [277, 'GET /server_settings', 'zulip_version', '8.5', '9.4'],
  [284, 'GET /messages/1020', 'message.edit_history.0.prev_rendered_content_version', 1, undefined],
  [297, 'GET /saved_snippets', 'saved_snippets.length', undefined, 2],
  [300, 'GET /messages?anchor=newest', 'msg', "Missing 'num_before' argument", ''],
  [300, 'GET /messages?anchor=newest&num_before=1', 'msg', "Missing 'num_after' argument", ''],
  [300, 'GET /messages?message_ids=[1391]', 'messages.0.id', undefined, 1391],
  [327, 'GET /messages/1391', 'message.recipient_id', 1009, 201],
  [328, 'GET /messages/1002', 'message.reactions.0.user.id', 9, undefined],
  [334, narrow('topic', ''), 'messages.length', 0, 1],
  [334, narrow('topic', 'general chat'), 'messages.length', 0, 1],
  [350, set('hide_ai_features', 'true'), 'ignored_parameters_unsupported.0', 'hide_ai_features', undefined],
  [364, set('dense_mode', 'true'), 'ignored_parameters_unsupported.0', undefined, 'dense_mode'],
  [365, 'GET /messages/1435', 'message.last_moved_timestamp', undefined, 1_772_618_400],
  [365, 'GET /messages/1435', 'message.last_edit_timestamp', 1_772_618_400, undefined],
  [366, narrow('is', 'muted'), 'msg', unknown("'is' operand muted"), ''],
  [368, 'PATCH /saved_snippets/1', 'code', undefined, 'NOT_IN_SANDBOX'],
  [371, 'GET /server_settings', 'zulip_version', '9.4', '10.0'],
  [372, 'GET /server_settings', 'zulip_version', '10.0', '10.4'],
  [383, set('web_channel_default_view', '3'), 'msg', `Invalid web_channel_default_view: ${notOwn}`, ''],
  [390, 'GET /navigation_views', 'navigation_views.length', undefined, 4],
  [401, set('web_channel_default_view', '4'), 'msg', `Invalid web_channel_default_view: ${notOwn}`, ''],
  [421, 'GET /server_settings', 'zulip_version', '10.4', '11.4'],
  [425, set('emojiset', 'google-blob'), 'msg', '', `Invalid emojiset: ${notOwn}`],
  [
    431,
    set('web_inbox_show_channel_folders', 'true'),
    'ignored_parameters_unsupported.0',
    'web_inbox_show_channel_folders',
    undefined,
  ],
  [442, narrow('dm', ['x']), 'msg', 'operand is not a string or an integer list', 'operand[0] is not an integer'],
  [442, narrow('id', true), 'msg', '', 'Invalid narrow operator: Invalid message ID'],
  [442, set('full_name', 'M'), 'msg', 'Name too short!', ''],
  [442, '429 GET /users/me', 'msg', 'API usage exceeded rate limit', expect.stringContaining('; see')],
  [442, 'GET /users/me', 'x-ratelimit-limit', '200', '2000'],
  [444, set('target_users', '{}'), 'ignored_parameters_unsupported.0', 'target_users', undefined],
  [445, 'GET /messages?anchor=date&anchor_date=2026-03-01&num_before=0&num_after=0', 'msg', 'Invalid anchor', ''],
  [446, narrow('mentions', 9), 'msg', 'operand is not a string', ''],
  [454, set('web_home_view', 'recent'), 'msg', `Invalid web_home_view: ${notOwn}`, ''],
  [454, set('web_home_view', 'recent_topics'), 'msg', '', `Invalid web_home_view: ${notOwn}`],
  [460, 'GET /server_settings', 'zulip_version', '11.4', '12.0'],
  [481, 'GET /server_settings', 'zulip_version', '12.0', '12.2'],
  [489, narrow('channels', 'archived'), 'msg', unknown('channels operand archived'), ''],
])('from level %i on, %s: %s is other', async (level, request, place, below, from) => {
  const values = await Promise.all([level - 1, level].map((each) => valueAt(each, request, place)));

  expect(values).toEqual([below, from]);
});

/** `429` before a request: the allowance is used up. */
async function valueAt(featureLevel: number, request: string, place: string): Promise<unknown> {
  const isLimited = request.startsWith('429 ');
  const { chat } = await started({ featureLevel, ...(isLimited && { rateLimit: { perMinute: 1 } }) });
  const [, method = '', path = ''] = /(\w+) (\/.*)/.exec(request) ?? [];
  if (isLimited) await chat(method, path);
  const { headers, body } = await chat(method, encodeURI(path));
  let value: unknown = { ...headers, ...(isObject(body) && body) };
  for (const name of place.split('.'))
    value = isObject(value) || Array.isArray(value) ? Reflect.get(value, name) : undefined;
  return value;
}
