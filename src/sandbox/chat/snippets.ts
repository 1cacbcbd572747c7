import type { UserCall } from './chat-call.ts';
import { readParameters, required, type Reader, strip } from './parameters.ts';
import { absent, Refusal } from './refusal.ts';

/** Text of a limited length, stripped. */
function words(maxChars: number): Reader<string> {
  return (name, text) => {
    const value = strip(text);
    if (value === '') throw new Refusal(`${name} cannot be blank`);
    if (Array.from(value).length > maxChars) throw new Refusal(`${name} is too long (limit: ${maxChars} characters)`);
    return value;
  };
}

/** GET /saved_snippets. */
export function listSnippets({ state, user }: UserCall) {
  const own = state.snippets.rows().filter((row) => row.user_id === user.user_id);
  return { saved_snippets: own.map(({ user_id: _, ...snippet }) => snippet) };
}

/** POST /saved_snippets. @throws Refusal */
export function createSnippet(call: UserCall) {
  const { state, user, clock } = call;
  const values = readParameters(call, { title: words(60), content: words(10_000) });
  const text = { title: required('title', values.title), content: required('content', values.content) };
  const id = Math.max(state.counters.get('snippet') ?? 0, ...state.snippets.rows().map((row) => row.id)) + 1;
  state.counters.put('snippet', id);
  state.snippets.put(id, { id, user_id: user.user_id, ...text, date_created: Math.floor(clock.now() / 1000) });
  return { saved_snippet_id: id };
}

/** A repeated delete is a 404; ignored parameters are never named (docs/apis.md, Saved snippets). @throws Refusal */
export function deleteSnippet({ state, user, segment }: UserCall) {
  const snippet = state.snippets.get(Number(segment));
  if (snippet?.user_id !== user.user_id) throw absent('Saved snippet does not exist.');
  state.snippets.remove(snippet.id);
  return {};
}
