import { join } from 'node:path';
import { isWindows, type Environment, type System } from '../../src/core/system.ts';

const ends: (() => void)[] = [];
process.once('exit', () => {
  for (const end of ends) end();
});

/** A computer whose home is in that folder; the programs of test/store/program.ts are on it too. */
export function systemIn(folder: string, env: Environment = {}): System {
  const home = join(folder, 'home');
  return {
    env: { ...placesIn(home), ...env },
    platform: process.platform,
    home,
    temporary: folder,
    local: folder,
    hostname: 'here.test',
    uid: process.getuid?.(),
    pid: process.pid,
    kill: (pid, signal) => void process.kill(pid, signal),
    atExit: (work) => void ends.push(work),
  };
}

/** On Windows what puts the program's folders where they are elsewhere; no test expects others. */
export function placesIn(home: string): Environment {
  if (!isWindows) return {};
  return { XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: join(home, '.local', 'state') };
}
