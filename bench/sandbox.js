// The sandbox as a process of its own, as another computer's server would be.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../bin/chatelaine.cjs', import.meta.url));

/** @typedef {{ base_url: string, api_key: string, app_code: number }} Licensing */

/**
 * Starts `sandbox serve`; what points at its licensing service, and how to end it.
 * @param {Record<string, string | undefined>} env
 * @param {readonly string[]} [options]
 */
export async function serve(env, options = []) {
  const server = spawn(process.execPath, [program, 'sandbox', 'serve', '-o', 'ndjson', ...options], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { base_url, api_key, app_code } = await addressFrom(server.stdout);
  const credential = {
    CHATELAINE_BASE_URL: base_url,
    CHATELAINE_API_KEY: api_key,
    CHATELAINE_APP_CODE: String(app_code),
  };
  return { credential, stop: () => server.kill() };
}

/**
 * @param {AsyncIterable<Buffer>} output
 * @returns {Promise<Licensing>}
 */
async function addressFrom(output) {
  for await (const line of output) return JSON.parse(String(line)).licensing;
  throw new Error('the sandbox did not start');
}
