import { isatty, ReadStream } from 'node:tty';
import { openSync, readFileSync } from '../core/outside.ts';
import type { Host } from './host.ts';

/** The terminal that this process was started from, whatever its streams are. */
export const processTerminal: Host['terminal'] = {
  get group() {
    return groups()?.own ?? process.ppid;
  },
  isForeground() {
    const known = groups();
    return known ? known.own === known.foreground : isatty(0) || isatty(1);
  },
  open() {
    // A console of Windows serves all streams; elsewhere standard input may be another terminal, or at its end.
    if (process.platform === 'win32')
      return isatty(0) ? process.stdin : new ReadStream(openSync('\\\\.\\CONIN$', 'r+'));
    return new ReadStream(openSync('/dev/tty', 'r+'));
  },
};

/** The group of this process, and that in the foreground of its terminal; undefined where there is no /proc. */
function groups(): { readonly own: number; readonly foreground: number } | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // Behind the name, which may hold anything: state, parent, group, session, terminal, its group in the foreground.
    const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { own: Number(own), foreground: Number(foreground) };
  } catch {
    return undefined;
  }
}
