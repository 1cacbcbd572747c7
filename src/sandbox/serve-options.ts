import { countField, outputField, textField, type Fields, type Values } from '../schema/field.ts';
import { readFaults } from './faults.ts';
import { shapeOptions } from './licensing/shapes.ts';
import type { SandboxOptions } from './server.ts';

/** The options of a sandbox that is served. */
export const serveOptions = {
  port: { kind: 'integer', min: 0, max: 65535, placeholder: 'N', help: 'Port (default: any free one)' },
  listen: textField(
    'ADDRESS',
    'Address to listen on, such as 0.0.0.0 in a container: whoever reaches it can use the sandbox (default: 127.0.0.1)',
  ),
  data: outputField('FILE', 'Keep what is changed in this file (default: in memory)'),
  feature_level: { ...countField('N', 'Feature level of the chat server (default: 489)'), min: 0 },
  history_limit: countField(
    'N',
    'Hide all but the newest N messages, as a plan with a limited history does (default: none hidden)',
  ),
  latency: { kind: 'duration', placeholder: 'DURATION', help: 'How long to wait before each response (default: 0ms)' },
  fault: textField('SPEC', 'Faults, as in "POST /v1/license/=drop-after:0.05;*=429:0.02" (default: nothing)'),
  seed: { kind: 'integer', placeholder: 'N', help: 'Seed for the random choice of faults (default: 1)' },
  ...shapeOptions,
  extra_messages: countField('N', 'Add N messages of 1,000 characters to the topic load of general (default: 0)'),
  delete_batches: countField(
    'N',
    'Batches of 100 messages that one delete_topic call deletes before it stops (default: 2)',
  ),
  rate_limit: countField('N', 'Requests a minute that a chat account may send (default: 200)'),
  log: outputField('FILE', 'Append a JSON line for each request'),
} as const satisfies Fields;

/** Turns the command's options into those of a sandbox. @throws Failure usage where a fault cannot be read */
export function behaviourOf(options: Values<typeof serveOptions>): Omit<SandboxOptions, 'clock'> {
  const { port, listen, feature_level, history_limit, extra_messages: count, latency, fault, seed } = options;
  const { delete_batches, rate_limit: perMinute } = options;
  return {
    licenseShape: options,
    port,
    listen,
    latency,
    featureLevel: feature_level,
    historyLimit: history_limit,
    extraMessages: count === undefined ? undefined : { channel: 'general', topic: 'load', count, chars: 1000 },
    deleteBatches: delete_batches,
    rateLimit: perMinute === undefined ? undefined : { perMinute },
    faults: fault === undefined ? undefined : readFaults(fault, seed ?? 1),
  };
}
