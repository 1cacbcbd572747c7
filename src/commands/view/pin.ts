import { command } from '../command.ts';
import { fragmentArgs, pinShow, setPinned } from './change.ts';
import { aboutBuiltIn } from './fragments.ts';

export default command({
  about: [aboutBuiltIn],
  args: fragmentArgs,
  examples: ['chatelaine view pin narrow/is/starred', "chatelaine view pin inbox '#narrow/is/starred'"],
  dryRun: ['requests'],

  run: ({ fragment }, context) => setPinned(context, fragment, { is_pinned: true }),
  show: pinShow,
});
