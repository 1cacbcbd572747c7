/** Whether a URL's host is this machine by its very name: what is sent there does not leave it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
