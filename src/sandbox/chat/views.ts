import { builtInViews } from '../../schema/view.ts';
import type { ViewRecord } from '../records.ts';
import type { State } from '../state.ts';
import type { UserCall } from './call.ts';
import { ignoredField, ignoredSince } from './ignored.ts';
import { boolean, plain, readParameters, required } from './parameters.ts';
import { absent, Refusal } from './refusal.ts';
import { strip } from './strip.ts';

/** They have a row only after somebody made one (docs/apis.md, Navigation views). */
const builtIn: ReadonlySet<string> = new Set(builtInViews);

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

/** PATCH /navigation_views/{fragment}, its checks in the order of the server (docs/apis.md, Navigation views). @throws Refusal */
export function changeView({ state, user, segment, request, level }: UserCall) {
  const { values, ignored } = readParameters(request, { is_pinned: boolean, name: plain });
  const name = values.name === undefined ? undefined : strip(values.name);
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

/** POST /navigation_views: a built-in view too gets its row by this. @throws Refusal */
export function createView({ state, user, request, level }: UserCall) {
  const { values, ignored } = readParameters(request, { fragment: plain, is_pinned: boolean, name: plain });
  const fragment = strip(required('fragment', values.fragment));
  const is_pinned = required('is_pinned', values.is_pinned);
  if (fragment === '') throw new Refusal('fragment cannot be blank');
  const name = values.name === undefined ? null : strip(values.name);
  if (builtIn.has(fragment) && name !== null) throw new Refusal('Built-in views cannot have a custom name.');
  if (!builtIn.has(fragment) && !name) throw new Refusal('Custom views must have a valid name.');
  const own = viewsOf(state, user.user_id);
  if (own.some((view) => view.fragment === fragment || (name !== null && view.name === name))) {
    throw new Refusal('Navigation view already exists.');
  }
  state.views.put(viewKey(user.user_id, fragment), { user_id: user.user_id, fragment, is_pinned, name });
  return ignoredField(level, ignoredSince.others, ignored);
}

/** DELETE /navigation_views/{fragment}; ignored parameters are never named. @throws Refusal */
export function deleteView({ state, user, segment }: UserCall) {
  const key = viewKey(user.user_id, segment);
  if (!state.views.get(key)) throw absent('Navigation view does not exist.');
  state.views.remove(key);
  return {};
}

export function viewKey(user: number, fragment: string): string {
  return `${user}/${fragment}`;
}

function viewsOf(state: State, user: number): ViewRecord[] {
  return state.views.rows().filter((view) => view.user_id === user);
}
