import { usage } from '../../core/failure.ts';
import { command } from '../command.ts';

/** Not in help or manual: it answers who looks for it. */
export default command({
  args: {
    license_code: { kind: 'string', placeholder: 'CODE', help: 'The license key; - reads it from standard input' },
  },
  examples: [],

  run() {
    throw usage(
      'the licensing API cannot delete a license',
      'When a user leaves, chatelaine license retire CODE gives the license to nobody and makes it small. Later, chatelaine license ' +
        'audit --roster FILE shows what is left. See WHEN A USER LEAVES in the manual of license edit.',
    );
  },
});
