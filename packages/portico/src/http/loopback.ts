const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL leads to this machine. Then plain http reveals nothing to a network. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}
