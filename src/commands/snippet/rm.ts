import { Failure } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { snippetFields } from '../../schema/snippet.ts';
import { command } from '../command.ts';

export default command({
  args: { saved_snippet_id: { ...snippetFields.saved_snippet_id, many: true } },
  options: { missing_ok: { kind: 'boolean', help: 'A snippet that does not exist is no failure' } },
  about: [
    'Ids may come from standard input, one a line: write - for them. An id that is given twice is deleted once. A snippet that does ' +
      'not exist, or is of another user, is exit code 5; with --missing-ok it is a row of status missing.',
  ],
  examples: ['chatelaine snippet rm 2', 'chatelaine snippet rm 2 3 --missing-ok'],

  dryRun: ['requests'],

  run: ({ saved_snippet_id: ids, missing_ok }, { chat }) => {
    const api = chat();
    return each(
      [...new Set(ids)],
      (id) => String(id),
      async (id) => {
        try {
          await api.deleteSnippet(id);
          return { saved_snippet_id: id, status: 'deleted' };
        } catch (cause) {
          if (missing_ok && cause instanceof Failure && cause.kind === 'not_found')
            return { saved_snippet_id: id, status: 'missing' };
          throw cause;
        }
      },
    );
  },

  show: {
    columns: ['saved_snippet_id', 'status'],
    line: ({ saved_snippet_id, status }) => `Snippet ${saved_snippet_id}: ${status}`,
  },
});
