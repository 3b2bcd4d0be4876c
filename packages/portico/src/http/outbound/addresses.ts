import { BlockList } from 'node:net';
import { canonicalAddress } from '../addresses.ts';

/**
 * Decides which addresses are on the public internet. Anyone can choose some of the URLs that
 * Portico fetches. For such a URL, all addresses of the host must be public.
 */

/** IANA's special-purpose IPv4 addresses (RFC 6890), multicast addresses, and reserved ranges. */
const NOT_PUBLIC_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Public, but a cloud provider uses this address only for its own machines.
  ['168.63.129.16', 32],
] as const;

/**
 * IANA's range of global unicast addresses. Other IPv6 addresses are not public, for example
 * translated IPv4 addresses (64:ff9b::/96).
 */
const GLOBAL_UNICAST = ['2000::', 3] as const;

/**
 * Exceptions in `GLOBAL_UNICAST`: protocol addresses (Teredo, ORCHID, benchmarks), 6to4, and
 * addresses for documentation.
 */
const NOT_PUBLIC_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const;

const notPublic = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_IPV4) notPublic.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of NOT_PUBLIC_IPV6) notPublic.addSubnet(network, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet(...GLOBAL_UNICAST, 'ipv6');
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Checks the IPv4 address in an IPv4-mapped IPv6 address. */
export function isPublicAddress(text: string): boolean {
  const address = canonicalAddress(text);
  if (address === null) return false;
  if (!address.includes(':')) return !notPublic.check(address, 'ipv4');
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

export function isLoopbackAddress(text: string): boolean {
  const address = canonicalAddress(text);
  return address !== null && loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
