/** Lists of hostnames. `*.example.com` matches all names below `example.com`. */
export interface DocumentHosts {
  /** The hosts that documents may be fetched from. Defaults to all hosts that are not denied. */
  readonly allowed_hosts?: readonly string[] | undefined;
  /** The hosts that documents are never fetched from, even if they are also allowed. */
  readonly denied_hosts?: readonly string[] | undefined;
}

/** Matches a hostname, or `*.` and a hostname, which means all of its subdomains. */
const HOST_PATTERN = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Whether this is a valid pattern: a hostname as it appears in URLs, in lower case and without
 * Unicode.
 */
export function isHostPattern(pattern: string): boolean {
  return HOST_PATTERN.test(pattern);
}

/** Returns why the server must not fetch documents from this host, or null if it may. */
export function hostProblem(
  hostname: string,
  { allowed_hosts: allowed, denied_hosts: denied = [] }: DocumentHosts,
): string | null {
  const isNamed = (pattern: string) => matches(pattern, hostname);
  if (denied.some(isNamed)) return `${hostname} is one of denied_hosts`;
  return allowed === undefined || allowed.some(isNamed)
    ? null
    : `${hostname} is not one of allowed_hosts`;
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
