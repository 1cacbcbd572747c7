import { readFaults } from '../../src/sandbox/faults.ts';
import type { LogEntry } from '../../src/sandbox/serve.ts';
import { linkedClocks } from './clock.ts';
import type { LicenseShape } from './license-shapes.ts';
import { emptyHome, openSandbox, type RunOptions } from './run.ts';
import type { SandboxOptions } from './sandbox.ts';

/** A sandbox of this form and with this fault, whose time is that of its clients; they have one home. */
export async function licensingWorld(
  licenseShape: LicenseShape = {},
  fault = '',
  options: Partial<SandboxOptions> = {},
) {
  const time = linkedClocks();
  const home = emptyHome();
  const log: LogEntry[] = [];
  const { sandbox, run, env } = await openSandbox({
    clock: time.sandbox,
    licenseShape,
    log: (entry) => void log.push(entry),
    ...(fault === '' ? {} : { faults: readFaults(fault, 1) }),
    ...options,
  });
  const before = sandbox.state.licenses().length;
  return {
    sandbox,
    env,
    time,
    home,
    log,
    run: (line: string | readonly string[], given: RunOptions = {}) =>
      run(line, { home, clock: time.client, ...given }),
    /** Runs in another home, at the time of this computer. */
    runElsewhere: run,
    /** Licenses that were created since. */
    created: () => sandbox.state.licenses().slice(before),
    users: () => sandbox.state.licenses().map(({ remote_user }) => remote_user),
    posts: () => log.filter(({ method }) => method === 'POST').length,
  };
}

/** The licenses of these users in place of the sample data, each of size 4. */
export function seedOf(names: readonly string[]): NonNullable<SandboxOptions['seed']> {
  return (state) => {
    for (const { license_code } of state.licenses.rows()) state.licenses.remove(license_code);
    for (const [index, remote_user] of names.entries()) {
      const license = { license_code: `K-${index}`, remote_user, app_code: 4711, size_allowance: 4 };
      state.licenses.put(license.license_code, { ...license, created: '2026-03-01T12:00:00Z' });
    }
  };
}
