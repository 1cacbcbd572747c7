import { usage } from '../../core/failure.ts';
import { command } from '../command.ts';

/** Not in help or manual: it answers who looks for it. */
export default command({
  args: { name: { kind: 'string', many: true, placeholder: 'NAME', help: 'Names of settings' } },
  examples: [],

  run() {
    throw usage(
      'the chat API that chatelaine uses cannot read settings back',
      'chatelaine settings describe NAME shows the values that a setting can have; the app shows the one it has.',
    );
  },
});
