import type { Secret } from '../core/secret.ts';

/** Removes every secret that it watches from texts that leave the program other than as data. */
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

/** Characters of a server's words that an error shows. */
const maxChars = 1000;

/** Words of a server, cut where they are too long to read. Only words that are redacted may be cut: half a secret is not recognized. */
export function shortened(redacted: string): string {
  return redacted.length > maxChars ? `${redacted.slice(0, maxChars)}… (${redacted.length} characters)` : redacted;
}
