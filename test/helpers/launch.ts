import { execa } from 'execa';

const { PATH, HOME } = process.env;

/**
 * Starts a program as execa does, with PATH, HOME and what is given in its environment, and with nothing on its
 * standard input. A signal that a test sends is the only one: who does not end by it is not killed.
 */
export const launch = execa({
  ...{ extendEnv: false, forceKillAfterDelay: false, stdin: 'ignore' },
  env: { ...(PATH === undefined ? {} : { PATH }), ...(HOME === undefined ? {} : { HOME }) },
});
