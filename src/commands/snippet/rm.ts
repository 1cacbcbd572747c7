import { lacking } from '../../api/chat/chat-answer.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { nameThatIsThere } from '../../core/tsv.ts';
import { nearRows } from '../../jobs/topic/find-channel.ts';
import { each } from '../../jobs/work/each.ts';
import { flagField, collect, readField } from '../../schema/field.ts';
import { snippetFields, snippetLevel } from '../../schema/snippet.ts';
import { command } from '../command.ts';
import type { Invocation, Terminal } from '../context.ts';

export default command({
  args: { snippet: { ...snippetFields.snippet, many: true } },
  options: { missing_ok: flagField('A snippet that does not exist is not an error') },
  about: [
    'Digits are an id, anything else is a title; snippet list shows both. On a terminal the command shows the titles and asks ' +
      'before it deletes (--yes does not ask).',
  ],
  examples: ['chatelaine snippet rm 2', 'chatelaine snippet rm 2 3 --missing-ok'],

  dryRun: ['requests'],

  async *rows({ snippet: words, missing_ok }, context) {
    const api = context.chat();
    const ids = await idsOf(words, missing_ok, api, context);
    yield* each([...new Set(ids)], String, async (id) => {
      try {
        await api.deleteSnippet(id);
        return { saved_snippet_id: id, status: 'deleted' };
      } catch (cause) {
        if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
        if (!missing_ok) throw cause.as('not_found', `no snippet ${id}`, { hint: listed });
        return { saved_snippet_id: id, status: 'missing' };
      }
    });
  },

  show: {
    columns: ['saved_snippet_id', 'status'],
    line: ({ saved_snippet_id, status }) => `Snippet ${saved_snippet_id}: ${status}`,
  },
});

/** The ids, once the user agreed to their titles. @throws Failure usage for a title of several, not_found, cancelled */
async function idsOf(
  words: readonly string[],
  missing_ok: boolean | undefined,
  chat: ChatApi,
  { terminal, confirm, options, note }: Terminal & Invocation,
): Promise<readonly number[]> {
  collect(words.filter(isNumber), (word) => readField('snippet', snippetFields.id, word));
  const isListed = terminal.canAsk() || !words.every(isNumber);
  const rows = isListed ? await chat.snippets() : [];
  if (!rows && !words.every(isNumber)) throw lacking('saved snippets', snippetLevel, await chat.level());
  const snippets = rows ?? [];
  const ids = collect(words, (word) => idsMeant(word, snippets, missing_ok ? note : undefined)).flat();
  const titles = snippets
    .filter(({ id }) => ids.includes(Number(id)))
    .map(({ id, title }) => `${String(id)} '${String(title)}'`);
  if (terminal.canAsk() && !options.dry_run && titles.length > 0) await confirm(`Delete ${titles.join(', ')}?`);
  return ids;
}

function isNumber(word: string): boolean {
  return /^(0|-?[1-9]\d*)$/.test(word);
}

function idsMeant(word: string, snippets: readonly JsonObject[], sayMissing?: (text: string) => void): number[] {
  if (isNumber(word)) return [Number(word)];
  const titled = (name: string) => snippets.filter(({ title }) => String(title).toLowerCase() === name.toLowerCase());
  const ids = titled(nameThatIsThere(word, (name) => titled(name).length > 0)).map(({ id }) => Number(id));
  const near = nearRows(snippets, 'title', word, (row) => `snippet rm ${String(row['id'])}`);
  const missing = `no snippet '${word}'${near}`;
  if (ids.length === 0 && !sayMissing) throw new Failure('not_found', missing, { hint: listed });
  if (ids.length === 0) sayMissing?.(missing);
  if (ids.length > 1) throw usage(`'${word}' is the title of snippets ${ids.join(', ')}`, 'Give the id of one.');
  return ids;
}

const listed = 'chatelaine snippet list shows ids and titles.';
