import { command } from '../command.ts';
import { fragmentArgs, pinShow, setPinned } from './change.ts';

export default command({
  name: 'view hide',
  summary: 'Hide navigation views in the menu',
  args: fragmentArgs,
  examples: ['chatelaine view hide narrow/is/starred'],
  run: ({ fragment }, { chat }) => setPinned(chat(), fragment, false),
  show: pinShow,
});
