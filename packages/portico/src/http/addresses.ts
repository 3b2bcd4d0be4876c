import { isIPv4, isIPv6 } from 'node:net';

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/;
const ZONE = /%[^%]*$/;
const HIGHEST_PORT = 65_535;

/**
 * Returns an IP address in canonical form, or null for anything else.
 *
 * - Removes a port: `203.0.113.7:41234`, or `[2001:db8::1]:443` as IIS and Azure write it.
 * - Removes a zone: `fe80::1%eth0`.
 * - Writes IPv6 compressed and in lower case (RFC 5952).
 * - Turns an IPv4 address that is mapped to IPv6 (`::ffff:203.0.113.7`) into the IPv4 address.
 */
export function canonicalAddress(text: string): string | null {
  const [, bracketed, plain, port] = WITH_PORT.exec(text) ?? [];
  if (port !== undefined && Number(port) > HIGHEST_PORT) return null;
  if (plain !== undefined) return isIPv4(plain) ? plain : null;
  const address = (bracketed ?? text).replace(ZONE, '');
  // Reject an address with two zones. The line above removes only one, and Node would accept the
  // other.
  if (address.includes('%') || !isIPv6(address)) return null;
  const groups = ipv6Groups(address);
  return ipv4MappedTo(groups) ?? compressed(address);
}

/**
 * Returns the network that a rate limit counts. For IPv4, this is the address itself. For IPv6, it
 * is the address's /64, because one caller can use every address in a /64. `address` comes from
 * `canonicalAddress`.
 */
export function findNetwork(address: string | null): string | null {
  if (address === null || !isIPv6(address)) return address;
  const network = ipv6Groups(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * Returns the address as in URLs (WHATWG URL, "IPv6 serializer"). RFC 5952 requires the same form.
 */
function compressed(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail] = compressed(address).split('::');
  const before = parseGroups(head);
  const after = parseGroups(tail ?? '');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after];
}

function parseGroups(groups: string): readonly number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16));
}

/**
 * Returns the IPv4 address that is mapped to this IPv6 address (RFC 4291 section 2.5.5.2), or null.
 */
function ipv4MappedTo(groups: readonly number[]): string | null {
  const [high = 0, low = 0] = groups.slice(6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  return mapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : null;
}
