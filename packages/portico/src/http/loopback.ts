const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a URL's host is this machine. Requests to such a URL do not cross a network, so plain
 * http is safe.
 */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}
