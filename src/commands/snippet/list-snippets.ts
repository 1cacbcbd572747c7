import { Failure } from '../../core/failure.ts';
import { snippetLevel } from '../../schema/snippet.ts';
import { command } from '../command.ts';

export default command({
  about: ['The saved snippets of the account; snippet rm takes an id or a title.'],
  examples: ['chatelaine snippet list'],

  async run(_values, { chat }) {
    const snippets = await chat().snippets();
    if (snippets) return snippets;
    throw new Failure('rejected', `this server does not list saved snippets, which need level ${snippetLevel}`);
  },

  result: 'rows',

  show: { columns: ['id', 'title', 'content', 'date_created'], none: 'no snippets are saved' },
});
