import type { UserCall } from './routes.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { boolean, plain, readParameters } from './parameters.ts';
import type { View } from '../records.ts';
import { absent, Refusal } from './refusal.ts';
import type { State } from '../state.ts';

/** Views that every user has by nature; they have a row only after somebody made one (facts page, 1.5). */
const builtIn: ReadonlySet<string> = new Set([
  'inbox',
  'recent',
  'feed',
  'drafts',
  'scheduled',
  'reminders',
  'narrow/has/reaction/sender/me',
  'narrow/is/mentioned',
  'narrow/is/starred',
]);

/** GET /navigation_views. */
export function listViews({ state, user }: UserCall) {
  return {
    navigation_views: viewsOf(state, user.user_id).map(({ fragment, is_pinned, name }) => ({
      fragment,
      is_pinned,
      name,
    })),
  };
}

/** PATCH /navigation_views/{fragment}, its checks in the order of the server (facts page, 1.5). @throws Refusal */
export function changeView({ state, user, segment, request, level }: UserCall) {
  const { values, ignored } = readParameters(request, { is_pinned: boolean, name: plain });
  const name = values.name?.trim();
  if (name === '') throw new Refusal('name cannot be blank');
  if (name !== undefined && builtIn.has(segment)) throw new Refusal('Built-in views cannot have a custom name.');
  if (name !== undefined && viewsOf(state, user.user_id).some((view) => view.name === name)) {
    throw new Refusal('Navigation view already exists.');
  }
  const key = viewKey(user.user_id, segment);
  const view = state.views.get(key);
  if (!view) throw absent('Navigation view does not exist.');
  const next = { ...view, name: name ?? view.name, is_pinned: values.is_pinned ?? view.is_pinned };
  if (next.name !== view.name || next.is_pinned !== view.is_pinned) state.views.put(key, next);
  return ignoredField(level, ignoredSince.others, ignored);
}

export function viewKey(user: number, fragment: string): string {
  return `${user}/${fragment}`;
}

function viewsOf(state: State, user: number): View[] {
  return state.views.rows().filter((view) => view.user_id === user);
}
