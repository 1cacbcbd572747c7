import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { jsonScanModule } from '../../src/core/json-scan-module.ts';
import { openOrigin } from '../helpers/origin.ts';
import { shell } from './program.ts';

/** V8 then does as on a processor that lacks what WebAssembly needs to look at sixteen bytes in one step. */
const flag = '--no-enable-sse4-1';

test('messages are fetched on a processor that cannot run the scan in WebAssembly', async () => {
  const isScanned = `WebAssembly.validate(Buffer.from('${jsonScanModule}', 'base64'))`;
  expect(execFileSync(process.execPath, [flag, '-p', isScanned], { encoding: 'utf8' })).toBe('false\n');
  const messages = [1, 2, 3].map((id) => `{"id":${id},"content":"${'x'.repeat(40)}"}`);
  const { port } = await openOrigin(() => ({
    body: `{"result":"success","msg":"","found_newest":true,"found_oldest":true,"messages":[${messages.join(',')}]}`,
  }));
  const env = {
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'chat-key-1',
  };
  const line = `"$NODE" ${flag} "$PROGRAM" messages fetch --all -o ndjson`;
  expect(await shell(line, { env }).ended).toMatchObject({ stdout: `${messages.join('\n')}\n`, stderr: '', code: 0 });
});
