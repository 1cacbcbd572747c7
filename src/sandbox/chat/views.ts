import { builtInViews } from '../../schema/view.ts';
import type { ViewRecord } from '../records.ts';
import type { State } from '../state.ts';
import type { UserCall } from './chat-call.ts';
import { boolean, plain, readParameters, required, strip } from './parameters.ts';
import { absent, Refusal } from './refusal.ts';

/** GET /navigation_views. */
export function listViews({ state, user }: UserCall) {
  const views = viewsOf(state, user.user_id);
  return { navigation_views: views.map(({ user_id: _, ...view }) => view) };
}

/** The checks are in the order of the server (docs/apis.md, Navigation views). @throws Refusal */
export function changeView(call: UserCall) {
  const { state, user, segment } = call;
  const values = readParameters(call, { is_pinned: boolean, name: plain });
  const name = values.name === undefined ? undefined : strip(values.name);
  if (name === '') throw new Refusal('name cannot be blank');
  if (name !== undefined && builtInViews.some((fragment) => fragment === segment))
    throw new Refusal('Built-in views cannot have a custom name.');
  if (name !== undefined && viewsOf(state, user.user_id).some((view) => view.name === name)) {
    throw new Refusal('Navigation view already exists.');
  }
  const key = viewKey(user.user_id, segment);
  const view = state.views.get(key);
  if (!view) throw absent('Navigation view does not exist.');
  const next = { ...view, name: name ?? view.name, is_pinned: values.is_pinned ?? view.is_pinned };
  if (next.name !== view.name || next.is_pinned !== view.is_pinned) state.views.put(key, next);
  return {};
}

/** POST /navigation_views (docs/apis.md, Navigation views). @throws Refusal */
export function createView(call: UserCall) {
  const { state, user } = call;
  const values = readParameters(call, { fragment: plain, is_pinned: boolean, name: plain });
  const [fragment, is_pinned] = [required('fragment', values.fragment), required('is_pinned', values.is_pinned)];
  const isBuiltIn = builtInViews.some((view) => view === fragment);
  const name = values.name === undefined ? '' : strip(values.name);
  if (isBuiltIn && values.name !== undefined) throw new Refusal('Built-in views cannot have a custom name.');
  if (!isBuiltIn && name === '') throw new Refusal('Custom views must have a valid name.');
  const isTaken = (view: ViewRecord): boolean =>
    view.fragment === fragment || (view.name !== null && view.name === name);
  if (viewsOf(state, user.user_id).some(isTaken)) throw new Refusal('Navigation view already exists.');
  const row = { user_id: user.user_id, fragment, is_pinned, name: isBuiltIn ? null : name };
  state.views.put(viewKey(user.user_id, fragment), row);
  return {};
}

export function viewKey(user: number, fragment: string): string {
  return `${user}/${fragment}`;
}

function viewsOf(state: State, user: number): ViewRecord[] {
  return state.views.rows().filter((view) => view.user_id === user);
}
