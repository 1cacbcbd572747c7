import { once } from 'node:events';
import { join } from 'node:path';
import type { SandboxAddress, SandboxControl } from '../commands/context.ts';
import { Failure } from '../core/failure.ts';
import { Secret } from '../core/secret.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { ChatCredential, LicensingChoice, LicensingCredential, StoredApp } from '../store/account/credentials.ts';
import { foldersOf } from '../store/disk/folders.ts';
import { openLogFile } from '../store/log-file.ts';
import type { Host } from './host.ts';
import type { RunParts } from './values.ts';

export type EmbeddedSandbox = ReturnType<typeof embeddedSandbox>;

/** Both services on loopback, in this process; they start when the first of their credentials is used. */
export function embeddedSandbox(host: Host) {
  let started: Promise<Sandbox> | undefined;
  const start = async (): Promise<Sandbox> => {
    const { startSandbox } = await import('../sandbox/server.ts');
    const { openSandboxLog } = await import('../store/sandbox-log.ts');
    return startSandbox({ clock: host.clock, persistence: await openSandboxLog(sandboxFile(host), host) });
  };
  const sandbox = (): Promise<Sandbox> => (started ??= start());
  const apps = async (): Promise<StoredApp[]> => {
    const { base_url, apps: all } = (await sandbox()).licensing;
    return all.map(({ app_code, api_key }) => {
      const sandboxApp = { kind: 'licensing', profile: 'sandbox', base_url, app_code } as const;
      const credential = async () => ({ ...sandboxApp, key: new Secret(api_key) });
      return { profile: `sandbox-${app_code}`, app_code, base_url, credential };
    });
  };
  return {
    licensingApps: apps,
    async licensing(choice: LicensingChoice): Promise<LicensingCredential> {
      const all = await apps();
      const app_code = choice.row_app_code ?? choice.app_code;
      const app = app_code === undefined ? all[0] : all.find((candidate) => candidate.app_code === app_code);
      if (app) return app.credential();
      throw new Failure('config', `the sandbox has no application with code ${app_code ?? ''}`, {
        hint: `Its applications are ${all.map((app) => app.app_code).join(' and ')}.`,
      });
    },
    async chat(): Promise<ChatCredential> {
      const { site, accounts } = (await sandbox()).chat;
      const [administrator] = accounts;
      if (!administrator) throw new Error('the sandbox has no account');
      const { email, api_key } = administrator;
      return { kind: 'chat', profile: 'sandbox', site, email, key: new Secret(api_key) };
    },
    async close() {
      if (started) await (await started).close();
    },
  };
}

function sandboxFile({ system }: Host): string {
  return join(foldersOf(system).state, 'sandbox.ndjson');
}

export function sandboxControl(running: RunParts): SandboxControl {
  const { host } = running;
  return {
    serve: (options) => serve(running, options),
    file: () => sandboxFile(host),
    async reset() {
      const { resetSandboxLog } = await import('../store/sandbox-log.ts');
      await resetSandboxLog(sandboxFile(host), host);
    },
  };
}

async function* serve(running: RunParts, options: Parameters<SandboxControl['serve']>[0]) {
  const { behaviourOf } = await import('../sandbox/serve-options.ts');
  const { startSandbox } = await import('../sandbox/server.ts');
  const { host, signal } = running;
  const { say } = running.messages;
  const { data, log } = options;
  const append = log === undefined ? undefined : openLogFile(log, say);
  const { openSandboxLog } = await import('../store/sandbox-log.ts');
  const persistence = data === undefined ? undefined : await openSandboxLog(data, host);
  const sandbox = await startSandbox({
    clock: host.clock,
    ...behaviourOf(options),
    log(entry) {
      append?.(JSON.stringify(entry));
      const { method, path, status, fault } = entry;
      // A line for whoever watches the terminal, such as `POST /v1/license/ 201 (drop-after)`.
      if (host.stderr.isTTY) say(`${method} ${path} ${status ?? 'no answer'}${fault === null ? '' : ` (${fault})`}`);
    },
    persistence,
  });
  try {
    yield addressOf(sandbox);
    say(`serving on ${sandbox.listening} until Ctrl-C`);
    // Only a signal ends the server, with the failure that names the signal.
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
