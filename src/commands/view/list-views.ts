import { Failure } from '../../core/failure.ts';
import { viewLevel } from '../../schema/view.ts';
import { command } from '../command.ts';

export default command({
  about: ['The views that the account has pinned, hidden or made; fragment is what view pin, hide and rename take.'],
  examples: ['chatelaine view list'],

  async run(_values, { chat }) {
    const views = await chat().views();
    if (views) return views;
    throw new Failure('rejected', `this server does not list navigation views, which need level ${viewLevel}`);
  },

  result: 'rows',

  show: { columns: ['fragment', 'name', 'is_pinned'], untruncated: ['fragment'], none: 'the account has no views' },
});
