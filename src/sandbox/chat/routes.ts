import type { Answer } from '../answer.ts';
import type { ChatWorld } from '../chat.ts';
import { aboutMe, aboutServer } from './about.ts';
import { fetchMessages } from './messages.ts';
import type { Organization, User } from '../records.ts';
import type { Request } from '../request.ts';
import { changeSettings } from './settings.ts';
import { deleteSnippet, listSnippets } from './snippets.ts';
import { deleteTopic } from './topics.ts';
import { changeView, listViews } from './views.ts';
import { postMessage } from './post.ts';

/** One admitted request. */
export interface Call extends ChatWorld {
  readonly request: Request;
  readonly organization: Organization;
  /** What the pattern of the route caught. */
  readonly segment: string;
}

export interface UserCall extends Call {
  readonly user: User;
}

type Outcome = Readonly<Record<string, unknown>> | Answer;

export type Endpoint =
  | { readonly who: 'anybody'; readonly run: (call: Call) => Outcome }
  | { readonly who: 'accounts' | 'people' | 'administrators'; readonly run: (call: UserCall) => Outcome };

interface Route {
  readonly pattern: RegExp;
  readonly methods: Readonly<Record<string, Endpoint>>;
  readonly since?: number;
}

/** Every URL of the chat service, with the level that brought it (specification, Endpoints; facts page, 1.1 to 2). */
const routes: readonly Route[] = [
  { pattern: /^\/api\/v1\/server_settings$/, methods: { GET: { who: 'anybody', run: aboutServer } } },
  { pattern: /^\/api\/v1\/users\/me$/, methods: { GET: { who: 'accounts', run: aboutMe } } },
  {
    pattern: /^\/api\/v1\/messages$/,
    methods: { GET: { who: 'accounts', run: fetchMessages }, POST: { who: 'accounts', run: postMessage } },
  },
  {
    pattern: /^\/api\/v1\/settings(\/display|\/notifications)?$/,
    methods: { PATCH: { who: 'people', run: changeSettings } },
  },
  {
    pattern: /^\/api\/v1\/streams\/([0-9]+)\/delete_topic$/,
    methods: { POST: { who: 'administrators', run: deleteTopic } },
  },
  { pattern: /^\/api\/v1\/navigation_views$/, since: 390, methods: { GET: { who: 'accounts', run: listViews } } },
  {
    pattern: /^\/api\/v1\/navigation_views\/(.+)$/s,
    since: 390,
    methods: { PATCH: { who: 'accounts', run: changeView } },
  },
  { pattern: /^\/api\/v1\/saved_snippets$/, since: 297, methods: { GET: { who: 'accounts', run: listSnippets } } },
  {
    pattern: /^\/api\/v1\/saved_snippets\/([0-9]+)$/,
    since: 297,
    methods: { DELETE: { who: 'accounts', run: deleteSnippet } },
  },
];

/** The routes that a server of that level has. */
export function chatRoutes(level: number): readonly Route[] {
  return routes.filter(({ since = 0 }) => level >= since);
}
