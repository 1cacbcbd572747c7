import { command } from '../command.ts';
import { fragmentArgs, pinShow, setPinned } from './change.ts';

export default command({
  name: 'view pin',
  summary: 'Pin navigation views',
  args: fragmentArgs,
  examples: ['chatelaine view pin narrow/is/starred'],
  run: ({ fragment }, { chat }) => setPinned(chat(), fragment, true),
  show: pinShow,
});
