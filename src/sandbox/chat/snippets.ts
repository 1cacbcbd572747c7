import type { UserCall } from './routes.ts';
import { absent } from './refusal.ts';

/** GET /saved_snippets. */
export function listSnippets({ state, user }: UserCall) {
  const own = state.snippets.rows().filter((row) => row.user_id === user.user_id);
  return {
    saved_snippets: own.map(({ id, title, content, date_created }) => ({ id, title, content, date_created })),
  };
}

/** DELETE /saved_snippets/{id}: a repeated delete is a 404; ignored parameters are never named (facts page, 1.6). @throws Refusal */
export function deleteSnippet({ state, user, segment }: UserCall) {
  const id = Number(segment);
  if (state.snippets.get(id)?.user_id !== user.user_id) throw absent('Saved snippet does not exist.');
  state.snippets.remove(id);
  return {};
}
