import type { Secret } from '../core/secret.ts';

/** Removes every secret it was told of from texts that leave the program other than as data. */
export interface Redactor {
  /** Remembers a secret and gives it back. */
  watch(secret: Secret): Secret;
  clean(text: string): string;
}

export function openRedactor(): Redactor {
  const secrets = new Set<Secret>();
  return {
    watch(secret) {
      secrets.add(secret);
      return secret;
    },
    clean: (text) => [...secrets].reduce((rest, secret) => secret.redact(rest), text),
  };
}
