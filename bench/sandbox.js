// What the benches and the tortures start: the sandbox as a process of its own, as another computer's server would be.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../bin/chatelaine.cjs', import.meta.url));

// A signal, and a reader of the output that goes away, end a bench as its last line does: what it started ends with it.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.once(signal, () => process.exit(1));
process.stdout.on('error', () => process.exit(1));

/**
 * What is done when this process ends, however that comes about: one listener, since a bench starts dozens.
 * @type {Set<() => void>}
 */
const endings = new Set();
process.once('exit', () => {
  for (const end of endings) end();
});

/**
 * Ends a child when this process ends, however that comes about.
 * @param {import('node:child_process').ChildProcess} child
 */
export function endAtExit(child) {
  const kill = () => child.kill('SIGKILL');
  endings.add(kill);
  child.once('exit', () => endings.delete(kill));
}

/**
 * A folder that goes when this process ends.
 * @param {string} name
 */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `chatelaine-${name}-`));
  endings.add(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** @typedef {{ base_url: string, api_key: string, app_code: number }} Licensing */

/**
 * Starts `sandbox serve`; what points at its licensing service (`credential`) and at its chat (`chat`), and how to end
 * it.
 * @param {Record<string, string | undefined>} env
 * @param {readonly string[]} [options]
 */
export async function serve(env, options = []) {
  const args = [program, 'sandbox', 'serve', '-o', 'ndjson', ...options];
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  endAtExit(server);
  const { licensing, chat } = await addressFrom(server.stdout);
  const { base_url, api_key, app_code } = licensing;
  const credential = {
    CHATELAINE_BASE_URL: base_url,
    CHATELAINE_API_KEY: api_key,
    CHATELAINE_APP_CODE: String(app_code),
  };
  const account = {
    CHATELAINE_CHAT_SITE: chat.site,
    CHATELAINE_CHAT_EMAIL: chat.email,
    CHATELAINE_CHAT_API_KEY: chat.api_key,
  };
  return { credential, chat: account, stop: () => server.kill() };
}

/**
 * @param {AsyncIterable<Buffer>} output
 * @returns {Promise<{ licensing: Licensing, chat: { site: string, email: string, api_key: string } }>}
 */
async function addressFrom(output) {
  for await (const line of output) return JSON.parse(String(line));
  throw new Error('the sandbox did not start');
}
