import { homedir, tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../core/failure.ts';
import type { Clock } from '../core/world.ts';
import { main } from './main.ts';

/** Runs the program in this process: the launcher's one call. */
export async function start(version: string): Promise<void> {
  const interrupt = interruption();
  // The sink's write tells of errors; without a listener the same error would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.exitCode = await main(process.argv.slice(2), {
    machine: {
      env: process.env,
      platform: process.platform,
      home: homedir(),
      temporary: tmpdir(),
      uid: process.getuid?.(),
      pid: process.pid,
      kill: (pid, signal) => void process.kill(pid, signal),
    },
    clock,
    // Making a stream costs time at start-up: each is made when it is first used.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    interrupt: interrupt.signal,
    version,
  });
  interrupt.release();
}

const clock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  async sleep(span, signal) {
    try {
      await sleep(span, undefined, signal === undefined ? {} : { signal });
    } catch (cause) {
      throw signal?.aborted ? signal.reason : cause;
    }
  },
};

/** The first signal ends the command cleanly; a second one of the same kind kills the process as if nobody listened. */
function interruption(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => controller.abort(new Failure('cancelled', 'interrupted'));
  const onTerminate = (): void => controller.abort(new Failure('terminated', 'ended by SIGTERM'));
  process.once('SIGINT', onInterrupt);
  process.once('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    release() {
      process.removeListener('SIGINT', onInterrupt);
      process.removeListener('SIGTERM', onTerminate);
    },
  };
}
