import { createSecureContext, type SecureContext } from 'node:tls';

/** What TLS trusts; made when the first connection needs it. */
export type Trust = () => SecureContext;

/**
 * The public authorities and those of some PEM texts. They are added to the context of all connections: the documented option `ca` wants
 * the whole list, and reading 140 public authorities once more takes 26 ms. A context of the given ones alone takes as long, because
 * Node reads the public ones whenever one is added.
 */
export function trustedBy(texts: readonly string[]): SecureContext {
  const trusted = createSecureContext();
  const native: unknown = trusted.context;
  if (!canAdd(native)) throw new Error('the TLS context of this Node takes no further authority');
  for (const pem of texts) native.addCACert(pem);
  return trusted;
}

function canAdd(context: unknown): context is { addCACert(pem: string): void } {
  return typeof context === 'object' && context !== null && 'addCACert' in context;
}
