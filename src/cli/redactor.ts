import type { Secret } from '../core/secret.ts';

export type Redactor = ReturnType<typeof openRedactor>;

/** Removes every secret that it watches from texts that leave the program other than as data. */
export function openRedactor() {
  const secrets = new Set<Secret>();
  return {
    /** Remembers a secret and gives it back. */
    watch(secret: Secret): Secret {
      secrets.add(secret);
      return secret;
    },
    clean: (text: string): string => [...secrets].reduce((rest, secret) => secret.redact(rest), text),
  };
}

const maxChars = 1000;

/** A server's words cut to a readable length, after redaction, which does not recognize half a secret. */
export function truncate(redacted: string): string {
  return redacted.length > maxChars ? `${redacted.slice(0, maxChars)}… (${redacted.length} characters)` : redacted;
}
