import type { Endpoint, ChatRoute, UserCall, CallOutcome, ChatCall } from './chat-call.ts';
import { findChannel, listChannels, listSubscriptions, listTopics, deleteTopic } from './channels.ts';
import { levels } from './levels.ts';
import { register, removeQueue } from './events.ts';
import { fetchMessages, oneMessage } from './messages.ts';
import { postMessage } from './post.ts';
import { changeSettings } from './settings.ts';
import { createSnippet, deleteSnippet, listSnippets } from './snippets.ts';
import { uploadAddress, uploadContent } from './uploads.ts';
import { aboutMe, giveKey, listUsers } from './users.ts';
import { changeView, createView, listViews } from './views.ts';
import { Refusal } from './refusal.ts';

/** A URL below the prefix of the API. */
function at(path: string, methods: ChatRoute['methods'], since = 0): ChatRoute {
  return { pattern: new RegExp(`^/api/v1/${path}$`, 's'), methods, since };
}

/** An endpoint that is open to every account. */
const any = (run: (call: UserCall) => CallOutcome): Endpoint => ({ who: 'accounts', run });

/** Endpoints of the real service that clients of other makers call and that the sandbox does not have. */
const names = [
  'messages/(?:flags(?:/narrow)?|render|matches_narrow|[0-9]+/(?:reactions|history|read_receipts|typing))',
  'mark_all_as_read|mark_stream_as_read|mark_topic_as_read',
  'streams/[0-9]+(?:/(?:members|email_address))?',
  'users/me/(?:presence|status|alert_words|muted_topics|muted_users/[0-9]+|apns_device_token|android_gcm_reg_id)',
  'users/(?:[0-9]+(?:/(?:subscriptions/[0-9]+|presence|status))?|[^/]+@[^/]+(?:/presence)?)',
  'realm(?:/.*)?',
  'user_groups(?:/.*)?|user_topics|user_uploads(?:/.*)?|attachments(?:/[0-9]+)?',
  'drafts(?:/[0-9]+)?|scheduled_messages(?:/[0-9]+)?|reminders(?:/[0-9]+)?|typing|invites(?:/.*)?|channel_folders(?:/.*)?',
  'dev_fetch_api_key|dev_list_users|jwt/fetch_api_key|bots(?:/.*)?|default_streams|calls/.*|zcommand',
];

/** Says in JSON what a client misses, instead of the page of an unknown URL. */
const lacking: Endpoint = {
  who: 'accounts',
  run: ({ request: { method, path } }) => {
    throw new Refusal(`The sandbox does not have this endpoint: ${method} ${path}`, { code: 'NOT_IN_SANDBOX' });
  },
};

/**
 * Every URL of the chat service, with the level that brought it; the first that fits serves the request. The
 * specification has only a part of them: the others are what official clients use around it.
 */
export const chatRoutes: readonly ChatRoute[] = [
  at('server_settings', { GET: { who: 'anybody', run: aboutServer } }),
  at('fetch_api_key', { POST: { who: 'anybody', run: giveKey } }),
  at('users', { GET: any(listUsers) }),
  at('users/me', { GET: any(aboutMe) }),
  at('users/me/subscriptions', { GET: any(listSubscriptions) }),
  at('users/me/([0-9]+)/topics', { GET: any(listTopics) }),
  at('streams', { GET: any(listChannels) }),
  at('get_stream_id', { GET: any(findChannel) }),
  at('messages', { GET: any(fetchMessages), POST: any(postMessage) }),
  at('messages/([0-9]+)', { GET: any(oneMessage), PATCH: lacking, DELETE: lacking }),
  at('settings(/display|/notifications)?', {
    PATCH: { who: 'people', run: changeSettings, namesIgnored: levels.ignoredSettings },
  }),
  at('register', { POST: any(register) }),
  at('events', { GET: lacking, DELETE: any(removeQueue) }),
  at('streams/([0-9]+)/delete_topic', { POST: { who: 'administrators', run: deleteTopic } }),
  at('navigation_views', { GET: any(listViews), POST: any(createView) }, levels.navigationViews),
  at('navigation_views/(.+)', { PATCH: any(changeView), DELETE: lacking }, levels.navigationViews),
  at('saved_snippets', { GET: any(listSnippets), POST: any(createSnippet) }, levels.savedSnippets),
  at('saved_snippets/([0-9]+)', { DELETE: any(deleteSnippet), PATCH: lacking }, levels.snippetEditing),
  at('saved_snippets/([0-9]+)', { DELETE: any(deleteSnippet) }, levels.savedSnippets),
  at('user_uploads/([0-9]+/.+)', { GET: any(uploadAddress) }),
  {
    pattern: /^\/user_uploads\/temporary\/([^/]+)\/[^/]+$/,
    methods: { GET: { who: 'anybody', run: uploadContent } },
  },
  at(`(?:${names.join('|')})`, { GET: lacking, POST: lacking, PUT: lacking, PATCH: lacking, DELETE: lacking }),
];

/** Releases by the level that they brought (docs/apis.md, Feature levels). */
const releases: readonly (readonly [level: number, version: string])[] = [
  [481, '12.2'],
  [460, '12.0'],
  [421, '11.4'],
  [372, '10.4'],
  [371, '10.0'],
  [277, '9.4'],
  [237, '8.5'],
  [185, '7.5'],
  [148, '6.2'],
  [115, '5.7'],
  [65, '4.11'],
  [27, '3.4'],
  [1, '3.0'],
  [0, '2.1.8'],
];

/** GET /server_settings: needs no credentials; levels below 1 do not name themselves (docs/apis.md, Feature levels). */
function aboutServer({ level, request: { origin }, organization }: ChatCall) {
  const version = releases.find(([since]) => level >= since)?.[1] ?? '2.1.8';
  return {
    authentication_methods: { password: true, email: true, ldap: false, google: false, github: false, saml: false },
    zulip_version: version,
    zulip_feature_level: level >= levels.levelIsNamed ? level : undefined,
    zulip_merge_base: level >= levels.mergeBase ? version : undefined,
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    realm_uri: origin,
    realm_url: level >= levels.realmUrl ? origin : undefined,
    realm_name: organization.name,
    realm_icon: `${origin}/static/icon.png`,
    realm_description: organization.description,
    realm_web_public_access_enabled: level >= levels.webPublicAccess ? false : undefined,
    external_authentication_methods: [],
  };
}
