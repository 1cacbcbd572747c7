// Runs in processes of their own, as a bundle: node PROGRAM VERB FOLDER ARGUMENT…
import { chmodSync, existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../src/core/failure.ts';
import { Secret } from '../../src/core/secret.ts';
import { writePrivate } from '../../src/store/disk/files.ts';

import { acquireLock, lockFolder, withLock } from '../../src/store/lock/lock.ts';
import { openProfiles } from '../../src/store/account/profiles.ts';
import { openSandboxLog } from '../../src/store/sandbox-log.ts';
import { realClock } from '../../src/cli/clock.ts';
import { isWindows, type System } from '../../src/core/system.ts';
import { systemIn } from './system.ts';

const [verb = '', folder = '', ...rest] = process.argv.slice(2);

/**
 * Another place for what only this computer has, as other users of a computer have it; on Windows the name of the place
 * is what counts.
 */
const system: System = { ...systemIn(folder), ...(isWindows ? {} : { local: join(folder, 'own') }) };
const host = { system, clock: realClock };
const lock = join(folder, 'x.lock');
/** The user without rights of every Unix. */
const nobody = 65_534;

const verbs: Record<string, () => Promise<void>> = {
  async save() {
    const [name = ''] = rest;
    await openProfiles(system, realClock).save(
      { kind: 'licensing', name, base_url: 'https://a.example', app_code: 1 },
      new Secret(`key-of-${name}`),
    );
  },
  /** For a process whose files may not grow beyond a limit. A package of conf's would end it by the signal for that. */
  async 'save-cut'() {
    await import('../../src/store/account/conf.ts');
    process.removeAllListeners('SIGXFSZ').on('SIGXFSZ', () => undefined);
    await verbs['save']?.();
  },
  async hold() {
    await acquireLock(lock, host);
    process.stdout.write(`held ${process.pid}\n`);
    setInterval(() => undefined, 60_000);
  },
  /** Takes the lock, or says who has it. */
  async try() {
    await withLock(lock, host, async () => void process.stdout.write('taken'), { wait: 0 }).catch((cause: unknown) =>
      process.stdout.write(String(cause)),
    );
  },
  /** Adds 1 to a number, so many times; nobody but the lock keeps two from adding to the same number. */
  async count() {
    const file = join(folder, 'count');
    for (let left = Number(rest[0]); left > 0; left -= 1) {
      await withLock(lock, host, async () => {
        const count = Number(readFileSync(file, 'utf8'));
        await realClock.sleep(1);
        writeFileSync(file, String(count + 1));
      });
    }
  },
  /** Looks for another living process inside the lock, and dies there. */
  async die() {
    await acquireLock(lock, host);
    for (const name of readdirSync(folder).filter((entry) => entry.startsWith('inside-'))) {
      const pid = Number(name.slice(7));
      if (existsSync(join(folder, name)) && isRunning(pid))
        writeFileSync(join(folder, 'violated'), `${process.pid} ${pid}`);
      else unlinkSync(join(folder, name));
    }
    writeFileSync(join(folder, `inside-${process.pid}`), '');
    await realClock.sleep(3);
    writeFileSync(join(folder, 'deaths'), '.', { flag: 'a' });
    process.kill(process.pid, 'SIGKILL');
  },
  /** Where locks are once their folder cannot be written. Root can write everywhere, so it becomes nobody first. */
  async 'unwritable-locks'() {
    if (process.getuid?.() === 0) process.setuid?.(nobody);
    const me = { ...system, uid: process.getuid?.() };
    chmodSync(await lockFolder(me), 0o500);
    process.stdout.write(await lockFolder(me));
  },
  /** Writes a file so many times, or says why it cannot. */
  async rewrite() {
    const file = join(folder, 'whole');
    for (let left = Number(rest[0]); left > 0; left -= 1)
      await writePrivate(file, String(left)).catch((cause: unknown) =>
        process.stdout.write(cause instanceof Failure ? `${cause.exit} ${cause.message}` : String(cause)),
      );
  },
  async log() {
    const log = await openSandboxLog(join(folder, 'sandbox.ndjson'), host);
    for (let step = 0; step < Number(rest[1]); step += 1) {
      await log.exclusively(({ append }) => append({ by: rest[0], step }));
    }
  },
};

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

void verbs[verb]?.();
