import { once } from 'node:events';
import { join } from 'node:path';
import type { SandboxAddress, SandboxControl, ServeOptions } from '../commands/context.ts';
import { Failure } from '../core/failure.ts';
import { Secret } from '../core/secret.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/server.ts';
import type { ChatCredential, LicensingCredential, StoredApp } from '../store/account/credentials.ts';
import { foldersOf } from '../store/disk/folders.ts';
import type { Host } from './host.ts';

export type EmbeddedSandbox = ReturnType<typeof embeddedSandbox>;

/** Both services on loopback, in this process, for one command; what they hold stays in the state folder. */
export function embeddedSandbox(host: Host) {
  let started: Promise<Sandbox> | undefined;
  return {
    /** Credentials of the sandbox, in place of stored ones; starts it at the first call. */
    async credentials() {
      started ??= start(host);
      return credentialsOf(await started);
    },
    async close() {
      if (started) await (await started).close();
    },
  };
}

/** The file that keeps what the embedded sandbox holds. */
function sandboxFile({ system }: Host): string {
  return join(foldersOf(system).state, 'sandbox.ndjson');
}

async function start(host: Host): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const { openSandboxLog } = await import('../store/sandbox-log.ts');
  return startSandbox({ clock: host.clock, persistence: await openSandboxLog(sandboxFile(host), host) });
}

function credentialsOf(sandbox: Sandbox) {
  const { base_url, apps } = sandbox.licensing;
  const [administrator] = sandbox.chat.accounts;
  const licensing = ({ app_code, api_key }: (typeof apps)[number]): LicensingCredential => ({
    kind: 'licensing',
    profile: 'sandbox',
    base_url,
    app_code,
    key: new Secret(api_key),
  });
  return {
    licensing({ app_code }: { readonly app_code?: number | undefined }): LicensingCredential {
      const app = app_code === undefined ? apps[0] : apps.find((candidate) => candidate.app_code === app_code);
      if (app) return licensing(app);
      throw new Failure('config', `the sandbox has no application with code ${app_code ?? ''}`, {
        hint: `Its applications are ${apps.map((known) => known.app_code).join(' and ')}.`,
      });
    },
    chat(): ChatCredential {
      if (!administrator) throw new Error('the sandbox has no account');
      return {
        kind: 'chat',
        profile: 'sandbox',
        site: sandbox.chat.site,
        email: administrator.email,
        key: new Secret(administrator.api_key),
      };
    },
    licensingApps: (): StoredApp[] =>
      apps.map((app) => ({
        profile: `sandbox-${app.app_code}`,
        app_code: app.app_code,
        credential: () => Promise.resolve(licensing(app)),
      })),
  };
}

/** The sandbox as `sandbox serve` and `sandbox reset` see it. */
export function sandboxControl(host: Host, signal: AbortSignal, note: (text: string) => void): SandboxControl {
  return {
    serve: (options) => serve(host, options, signal, note),
    file: () => sandboxFile(host),
    async reset() {
      const { resetSandboxLog } = await import('../store/sandbox-log.ts');
      const file = sandboxFile(host);
      await resetSandboxLog(file, host);
      return file;
    },
  };
}

async function* serve(
  host: Host,
  options: ServeOptions,
  signal: AbortSignal,
  note: (text: string) => void,
): AsyncGenerator<SandboxAddress> {
  const { startSandbox, openData, openLogFile, writeReady } = await import('./serving.ts');
  const { data, log, ready } = options;
  const logFile = log === undefined ? undefined : await openLogFile(log, note);
  const persistence = data === undefined ? undefined : await openData(data, host);
  const sandbox = await startSandbox({
    clock: host.clock,
    ...(await behaviourOf(options)),
    log(entry) {
      logFile?.write(`${JSON.stringify(entry)}\n`);
      const { method, path, status, fault } = entry;
      // As whoever watches the terminal sees it, such as `POST /v1/license/ 201 (drop-after)`.
      if (host.stderr.isTTY) note(`${method} ${path} ${status ?? 'no answer'}${fault === null ? '' : ` (${fault})`}`);
    },
    persistence,
  });
  try {
    const address = addressOf(sandbox);
    if (ready) await writeReady(ready.file, ready.text(address));
    yield address;
    note(`serving on ${sandbox.listening} until Ctrl-C`);
    // A server ends by a signal alone, and says by which.
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  } finally {
    await sandbox.close();
    logFile?.end();
  }
}

/** What the options say of the services themselves. @throws Failure usage where a fault cannot be read */
async function behaviourOf(options: ServeOptions): Promise<Omit<SandboxOptions, 'clock'>> {
  const { readFaults } = await import('./serving.ts');
  const { port, listen, feature_level, history_limit, extra_messages: count, latency, fault, seed } = options;
  const { delete_batches, rate_limit: perMinute } = options;
  return {
    ...{ licenseShape: options },
    ...{ port, listen, latency, featureLevel: feature_level, historyLimit: history_limit },
    extraMessages: count === undefined ? undefined : { channel: 'general', topic: 'load', count, chars: 1000 },
    deleteBatches: delete_batches,
    rateLimit: perMinute === undefined ? undefined : { perMinute },
    faults: fault === undefined ? undefined : readFaults(fault, seed ?? 1),
  };
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
