import { once } from 'node:events';
import type { SandboxAddress, SandboxControl } from '../commands/context.ts';
import { behaviourOf } from '../sandbox/serve-options.ts';
import { startSandbox, type Sandbox } from '../sandbox/server.ts';
import { openLogFile } from '../store/log-file.ts';
import { openSandboxLog, type SandboxLog } from '../store/sandbox-log.ts';
import type { Host } from './host.ts';
import type { RunParts } from './values.ts';

/** Serves both services until the signal aborts; yields where they are. */
export async function* serve(running: RunParts, options: Parameters<SandboxControl['serve']>[0]) {
  const { host, signal } = running;
  const { say } = running.messages;
  const { data, log } = options;
  const append = log === undefined ? undefined : openLogFile(log, say);
  const persistence = data === undefined ? undefined : await openData(data, host);
  const sandbox = await startSandbox({
    clock: host.clock,
    ...behaviourOf(options),
    log(entry) {
      append?.(JSON.stringify(entry));
      const { method, path, status, fault } = entry;
      // As whoever watches the terminal sees it, such as `POST /v1/license/ 201 (drop-after)`.
      if (host.stderr.isTTY) say(`${method} ${path} ${status ?? 'no answer'}${fault === null ? '' : ` (${fault})`}`);
    },
    persistence,
  });
  try {
    yield addressOf(sandbox);
    say(`serving on ${sandbox.listening} until Ctrl-C`);
    // A server ends by a signal alone, and says by which.
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  } finally {
    await sandbox.close();
  }
}

function addressOf({ licensing, chat }: Sandbox): SandboxAddress {
  const [app] = licensing.apps;
  const [account] = chat.accounts;
  if (!account) throw new Error('the sandbox has no account');
  return {
    licensing: { base_url: licensing.base_url, ...app, apps: licensing.apps },
    chat: { site: chat.site, ...account, accounts: chat.accounts },
  };
}

/** Refuses a file of another program before anybody is served. Another handle serves: this one has read it. */
async function openData(file: string, host: Host): Promise<SandboxLog> {
  const first = await openSandboxLog(file, host);
  await first.exclusively(async () => undefined);
  return openSandboxLog(file, host);
}
