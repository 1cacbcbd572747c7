const atom = /^[-!#$%&'*+/=?^_`{}|~0-9A-Z]+$/i;
const quoted = /^"[\x20\x21\x23-\x5b\x5d-\x7e]*"$/;
const label = /^[A-Z0-9]([A-Z0-9-]*[A-Z0-9])?$/i;

/** Whether the server takes the text as an e-mail address (docs/apis.md, Settings). */
export function isAddress(email: string): boolean {
  const at = email.lastIndexOf('@');
  if (at < 1 || email.length > 320) return false;
  return isLocal(email.slice(0, at)) && isDomain(email.slice(at + 1).toLowerCase());
}

function isLocal(local: string): boolean {
  return quoted.test(local) || local.split('.').every((part) => atom.test(part));
}

/** At least two labels, the last of at least two characters; `localhost` is an exception. */
function isDomain(domain: string): boolean {
  if (domain === 'localhost') return true;
  const labels = domain.split('.');
  const last = labels.at(-1) ?? '';
  return labels.length > 1 && last.length > 1 && labels.every((part) => part.length < 64 && label.test(part));
}
