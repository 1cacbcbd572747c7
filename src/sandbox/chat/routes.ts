import { aboutServer } from './about.ts';
import type { Endpoint, ChatRoute, UserCall, CallOutcome } from './call.ts';
import { findChannel, listChannels, listSubscriptions, listTopics } from './channels.ts';
import { lacking, lackingRoute } from './lacking.ts';
import { levels } from './levels.ts';
import { fetchMessages } from './messages.ts';
import { oneMessage } from './one-message.ts';
import { postMessage } from './post.ts';
import { changeSettings } from './settings.ts';
import { createSnippet, deleteSnippet, listSnippets } from './snippets.ts';
import { deleteTopic } from './topics.ts';
import { uploadAddress, uploadContent } from './uploads.ts';
import { aboutMe, listUsers } from './users.ts';
import { changeView, listViews } from './views.ts';

/** Open to every account. */
const any = (run: (call: UserCall) => CallOutcome): Endpoint => ({ who: 'accounts', run });

/**
 * Every URL of the chat service, with the level that brought it; the first that fits serves the request. The specification has
 * only a part of them: the others are what official clients use around it.
 */
const routes: readonly ChatRoute[] = [
  { pattern: /^\/api\/v1\/server_settings$/, methods: { GET: { who: 'anybody', run: aboutServer } } },
  { pattern: /^\/api\/v1\/users$/, methods: { GET: any(listUsers) } },
  { pattern: /^\/api\/v1\/users\/me$/, methods: { GET: any(aboutMe) } },
  { pattern: /^\/api\/v1\/users\/me\/subscriptions$/, methods: { GET: any(listSubscriptions) } },
  { pattern: /^\/api\/v1\/users\/me\/([0-9]+)\/topics$/, methods: { GET: any(listTopics) } },
  { pattern: /^\/api\/v1\/streams$/, methods: { GET: any(listChannels) } },
  { pattern: /^\/api\/v1\/get_stream_id$/, methods: { GET: any(findChannel) } },
  { pattern: /^\/api\/v1\/messages$/, methods: { GET: any(fetchMessages), POST: any(postMessage) } },
  {
    pattern: /^\/api\/v1\/messages\/([0-9]+)$/,
    methods: { GET: any(oneMessage), PATCH: lacking, DELETE: lacking },
  },
  {
    pattern: /^\/api\/v1\/settings(\/display|\/notifications)?$/,
    methods: { PATCH: { who: 'people', run: changeSettings } },
  },
  {
    pattern: /^\/api\/v1\/streams\/([0-9]+)\/delete_topic$/,
    methods: { POST: { who: 'administrators', run: deleteTopic } },
  },
  {
    pattern: /^\/api\/v1\/navigation_views$/,
    since: levels.navigationViews,
    methods: { GET: any(listViews), POST: lacking },
  },
  {
    pattern: /^\/api\/v1\/navigation_views\/(.+)$/s,
    since: levels.navigationViews,
    methods: { PATCH: any(changeView), DELETE: lacking },
  },
  {
    pattern: /^\/api\/v1\/saved_snippets$/,
    since: levels.savedSnippets,
    methods: { GET: any(listSnippets), POST: any(createSnippet) },
  },
  {
    pattern: /^\/api\/v1\/saved_snippets\/([0-9]+)$/,
    since: levels.snippetEditing,
    methods: { DELETE: any(deleteSnippet), PATCH: lacking },
  },
  {
    pattern: /^\/api\/v1\/saved_snippets\/([0-9]+)$/,
    since: levels.savedSnippets,
    methods: { DELETE: any(deleteSnippet) },
  },
  { pattern: /^\/api\/v1\/user_uploads\/([0-9]+\/.+)$/s, methods: { GET: any(uploadAddress) } },
  {
    pattern: /^\/user_uploads\/temporary\/([^/]+)\/[^/]+$/,
    methods: { GET: { who: 'anybody', run: uploadContent } },
  },
  lackingRoute,
];

/** The routes that a server of that level has. */
export function chatRoutes(level: number): readonly ChatRoute[] {
  return routes.filter(({ since = 0 }) => level >= since);
}
