import type { Endpoint, ChatRoute } from './call.ts';
import { Refusal } from './refusal.ts';

/** Endpoints of the real service that clients of other makers call and that the sandbox does not have. */
const names = [
  'register',
  'events',
  'messages/(?:flags(?:/narrow)?|render|matches_narrow|[0-9]+/(?:reactions|history|read_receipts|typing))',
  'mark_all_as_read|mark_stream_as_read|mark_topic_as_read',
  'streams/[0-9]+(?:/(?:members|email_address))?',
  'users/me/(?:presence|status|alert_words|muted_topics|muted_users/[0-9]+|apns_device_token|android_gcm_reg_id)',
  'users/(?:[0-9]+(?:/(?:subscriptions/[0-9]+|presence|status))?|[^/]+@[^/]+(?:/presence)?)',
  'realm(?:/.*)?',
  'user_groups(?:/.*)?|user_topics|user_uploads(?:/.*)?|attachments(?:/[0-9]+)?',
  'drafts(?:/[0-9]+)?|scheduled_messages(?:/[0-9]+)?|reminders(?:/[0-9]+)?|typing|invites(?:/.*)?|channel_folders(?:/.*)?',
  'fetch_api_key|dev_fetch_api_key|dev_list_users|jwt/fetch_api_key|bots(?:/.*)?|default_streams|calls/.*|zcommand',
];

/** Says in JSON what a client misses, instead of the page of an unknown URL. */
export const lacking: Endpoint = {
  who: 'accounts',
  run: ({ request: { method, path } }) => {
    throw new Refusal(`The sandbox does not have this endpoint: ${method} ${path}`, { code: 'NOT_IN_SANDBOX' });
  },
};

export const lackingRoute: ChatRoute = {
  pattern: new RegExp(`^/api/v1/(?:${names.join('|')})$`),
  methods: { GET: lacking, POST: lacking, PUT: lacking, PATCH: lacking, DELETE: lacking },
};
