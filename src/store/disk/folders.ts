import { posix, win32 } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { variable, type System } from '../../core/system.ts';

type Whereabouts = Pick<System, 'env' | 'platform' | 'home'>;

/** Where files are (docs/apis.md, Credentials). `config` throws Failure config if CHATELAINE_CONFIG_DIR is relative. */
export function foldersOf(system: Whereabouts) {
  return {
    /** Of config.json and credentials.json. */
    get config(): string {
      const chosen = variable(system.env, 'CHATELAINE_CONFIG_DIR');
      if (chosen === undefined) return below(system, 'XDG_CONFIG_HOME', 'APPDATA', '.config', 'AppData/Roaming');
      // On Windows a path without a drive or a server depends on the current drive.
      const isWhole = system.platform !== 'win32' || win32.parse(chosen).root.length > 1;
      if (pathsOf(system).isAbsolute(chosen) && isWhole) return chosen;
      throw new Failure('config', `CHATELAINE_CONFIG_DIR is '${chosen}': it must be an absolute path`, {
        hint: 'No file of the current folder is ever read; write the absolute path.',
      });
    },
    hold: variable(system.env, 'CHATELAINE_HOLD'),
    /** Of runs, locks, purge archives and the sandbox's data. */
    state: below(system, 'XDG_STATE_HOME', 'LOCALAPPDATA', '.local/state', 'AppData/Local'),
  };
}

function below(system: Whereabouts, xdg: string, windows: string, plain: string, roaming: string): string {
  const paths = pathsOf(system);
  const isWindows = system.platform === 'win32';
  const named = [variable(system.env, xdg), isWindows ? variable(system.env, windows) : undefined];
  const chosen = named.find((folder) => folder !== undefined && paths.isAbsolute(folder));
  // A home that is no absolute path would mean the current folder, so it counts as no home at all.
  const nowhere = isWindows ? 'C:\\nonexistent' : '/nonexistent';
  const home = paths.isAbsolute(system.home) ? system.home : nowhere;
  return paths.join(chosen ?? paths.join(home, isWindows ? roaming : plain), 'chatelaine');
}

/** Where libpq has that file of the user: in the home folder; on Windows elsewhere, under another name. */
export function libpqFile(system: Whereabouts, name: string, windowsName: string): string {
  const { env, home, platform } = system;
  if (platform !== 'win32') return posix.join(home, name);
  return win32.join(variable(env, 'APPDATA') ?? win32.join(home, 'AppData', 'Roaming'), 'postgresql', windowsName);
}

function pathsOf(system: Whereabouts): typeof posix {
  return system.platform === 'win32' ? win32 : posix;
}
