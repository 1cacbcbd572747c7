import { request as open } from 'node:http';
import { expect, test } from 'vitest';
import { fakeService, openSandbox, run } from '../helpers/run.ts';
import { contracts, type Exchange } from './exchanges.ts';

/** The sandbox's sample credentials, at the fake's origins. */
const env = {
  CHATELAINE_API_KEY: 'sandbox-key-of-app-4711',
  CHATELAINE_APP_CODE: '4711',
  CHATELAINE_CHAT_EMAIL: 'mara@harbour.example',
  CHATELAINE_CHAT_API_KEY: 'SandboxKeyOfMara0000000000000000',
};

test.each(contracts)('the client sends $call as the specification has it', async ({ line, exchanges, prints }) => {
  const service = fakeService();
  for (const exchange of exchanges) {
    service.expect({ ...exchange, authorization: exchange.headers['authorization'] }).reply(...answerOf(exchange));
  }

  const { exitCode, stdout } = await run(service, `${line} -o json`, { env });

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual(prints);
});

test.each(contracts)('the sandbox answers $call as the specification has it', async ({ exchanges }) => {
  const { sandbox } = await openSandbox();

  for (const exchange of exchanges) {
    const answer = await send(sandbox.port, exchange);

    expect(answer.status).toBe(exchange.answer.status);
    expect(answer.body).toMatchObject(exchange.answer.body as object);
  }
});

test.each(contracts)('client and sandbox understand each other: $call', async ({ line, prints }) => {
  const { run: runOverTheNetwork } = await openSandbox();

  const { exitCode, stdout } = await runOverTheNetwork(`${line} -o json`);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject(prints as object);
});

/** The literal answer; where the specification leaves a value open, some value of that kind. */
function answerOf({ answer }: Exchange): [number, unknown] {
  return [answer.status, concrete(answer.body)];
}

/** A matcher becomes the smallest value that it matches. */
function concrete(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(concrete);
  if (typeof value !== 'object' || value === null) return value;
  const { sample } = value as { sample?: unknown };
  if (sample === Number) return 1001;
  if ('asymmetricMatch' in value)
    return typeof sample === 'object' && !(sample instanceof RegExp) ? concrete(sample) : '4F1C9A';
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, concrete(item)]));
}

function send(port: number, { method, path, headers, body }: Exchange): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const outgoing = open({ host: '127.0.0.1', port, method, path, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as unknown });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
