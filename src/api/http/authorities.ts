import { createSecureContext, type SecureContext } from 'node:tls';

/** What TLS trusts beside the usual authorities; each context is made when a connection first needs it. */
export interface Trust {
  /** The authorities of the given files alone: to read the 140 public ones takes 25 ms (docs/apis.md, Proxies and TLS). */
  given(): SecureContext;
  /** The given and the usual ones. */
  all(): SecureContext;
}

/** @param texts certificates of authorities, as PEM */
export function openTrust(texts: readonly string[]): Trust {
  let given: SecureContext | undefined;
  let all: SecureContext | undefined;
  return {
    given: () => (given ??= createSecureContext({ ca: [...texts] })),
    all: () => (all ??= usualAnd(texts)),
  };
}

/** Adds to the context of all connections: the documented option `ca` wants the whole list, and reads the public ones once more. */
function usualAnd(texts: readonly string[]): SecureContext {
  const trusted = createSecureContext();
  const native: unknown = trusted.context;
  if (!canAdd(native)) throw new Error('the TLS context of this Node takes no further authority');
  for (const pem of texts) native.addCACert(pem);
  return trusted;
}

function canAdd(context: unknown): context is { addCACert(pem: string): void } {
  return typeof context === 'object' && context !== null && 'addCACert' in context;
}
