const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns true if the URL's host is this machine. Plain http is then safe, because the request
 * crosses no network.
 */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}
