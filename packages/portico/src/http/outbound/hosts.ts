/**
 * Lists of hostnames. `*.example.com` matches all subdomains of `example.com`, but not
 * `example.com`.
 */
export interface DocumentHosts {
  /**
   * The hosts from which the server may fetch documents. Defaults to all hosts that are not denied.
   */
  readonly allowed_hosts?: readonly string[] | undefined;
  /**
   * The hosts from which the server never fetches documents, even if they are in `allowed_hosts`.
   */
  readonly denied_hosts?: readonly string[] | undefined;
}

/** Matches a hostname, or `*.` and a hostname. */
const HOST_PATTERN = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Returns true for a valid pattern. Its hostname is in lower case and without Unicode, as in URLs.
 */
export function isHostPattern(pattern: string): boolean {
  return HOST_PATTERN.test(pattern);
}

/** Returns why the server must not fetch documents from this host, or null. */
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
