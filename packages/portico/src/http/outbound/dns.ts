import { lookup, Resolver } from 'node:dns/promises';

/**
 * The `timeout` of the first try for a name server is in milliseconds. With several name servers,
 * all tries can take longer than a request may take. The signal of the request then ends the
 * look-up.
 */
const ASKING = { timeout: 1000, tries: 2 } as const;

/**
 * Looks up a host's addresses in the DNS. IPv4 addresses come first, because the DNS does not tell
 * which addresses this machine can reach. The look-up uses no thread and ends when the signal
 * aborts. Without `nameServers`, each look-up reads the system's list again.
 */
export async function resolveByDns(
  hostname: string,
  signal: AbortSignal,
  nameServers?: readonly string[],
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver(ASKING);
  if (nameServers !== undefined) resolver.setServers(nameServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * Looks up a host's addresses through the operating system, which also reads the hosts file. The
 * look-up cannot be aborted and uses a thread until it ends.
 */
export async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
