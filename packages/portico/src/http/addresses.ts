import { isIPv4, isIPv6 } from 'node:net';

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/;
const ZONE = /%[^%]*$/;
const HIGHEST_PORT = 65_535;

/**
 * Returns an IP address in canonical form, or null if the text is not an IP address. Makes these
 * changes:
 *
 * - Removes a port, for example from `203.0.113.7:41234`, or from `[2001:db8::1]:443` as IIS and
 *   Azure write it.
 * - Removes a zone, for example from `fe80::1%eth0`.
 * - Compresses an IPv6 address and writes it in lower case (RFC 5952).
 * - Converts an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`) to the IPv4 address.
 */
export function canonicalAddress(text: string): string | null {
  const [, bracketed, plain, port] = WITH_PORT.exec(text) ?? [];
  if (port !== undefined && Number(port) > HIGHEST_PORT) return null;
  if (plain !== undefined) return isIPv4(plain) ? plain : null;
  const address = (bracketed ?? text).replace(ZONE, '');
  // The line above removed one zone. Reject a second one, which Node would accept.
  if (address.includes('%') || !isIPv6(address)) return null;
  const groups = ipv6Groups(address);
  return ipv4MappedTo(groups) ?? compressed(address);
}

/**
 * Returns the network to which rate limits apply: an IPv4 address, or the /64 of an IPv6 address.
 * One caller can use all addresses in a /64. `address` is a result of `canonicalAddress`.
 */
export function findNetwork(address: string | null): string | null {
  if (address === null || !isIPv6(address)) return address;
  const network = ipv6Groups(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/**
 * Returns the address as URLs write it (WHATWG URL, "IPv6 serializer"). RFC 5952 requires the same
 * form.
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

/** Returns the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), or null. */
function ipv4MappedTo(groups: readonly number[]): string | null {
  const [high = 0, low = 0] = groups.slice(6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  return mapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : null;
}
