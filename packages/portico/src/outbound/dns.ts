import { lookup, Resolver } from 'node:dns/promises';

/** In milliseconds, before a name server is asked again; with one that says nothing, both take less than a request may. */
const ASKING = { timeout: 1000, tries: 2 } as const;

/**
 * A host's addresses as the DNS has them: IPv4 first, since nothing sorts them by what this machine reaches. The look-up holds no thread,
 * and ends with the signal. The system's name servers are read anew each time, unless there are others.
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
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** As every program of this machine finds them, its hosts file included. It cannot be ended, and holds a thread for as long as it takes. */
export async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
