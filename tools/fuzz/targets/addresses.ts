import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { resolveClientAddress } from '../../../packages/kit/src/http/client-address.ts';
import { canonicalAddress, findNetwork } from '../../../packages/portico/src/http/addresses.ts';
import {
  isPublicAddress,
  isLoopbackAddress,
} from '../../../packages/portico/src/http/outbound/addresses.ts';
import { secondsFresh } from '../../../packages/portico/src/http/outbound/freshness.ts';
import { hold, type Target } from '../target.ts';

const internal = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  internal.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['2002::', 16],
] as const)
  internal.addSubnet(network, prefix, 'ipv6');

/** Returns the address as a URL writes the host (WHATWG), without Node's net. */
const written = (address: string) =>
  new URL(`http://${isIPv6(address) ? `[${address}]` : address}/`).hostname.replaceAll(
    /[[\]]/g,
    '',
  );

export const target: Target = {
  about: 'X-Forwarded-For, addresses and their networks, and the cache headers of what is fetched',
  longest: 4096,
  seeds: [
    '203.0.113.7',
    '203.0.113.7:41234, 10.0.0.1',
    '[2001:db8::1]:443',
    'fe80::1%eth0',
    '::ffff:203.0.113.7',
    '::ffff:c0a8:101',
    'unknown, _hidden',
    '1.2.3.4, , 5.6.7.8',
    'max-age=60, s-maxage="9"',
    'no-store',
    '2001:0db8:0000:0000:0000:0000:0000:0001',
    '64:ff9b::10.0.0.1',
    '0177.0.0.1',
    '1.2.3.4:99999',
  ],
  dictionary: [
    '::',
    ':',
    '::ffff:',
    '127.0.0.1',
    '10.0.0.1',
    '[',
    ']',
    '%',
    '%25',
    ', ',
    ':80',
    '.',
    '0x7f',
    'fe80',
    '::1',
    'ffff',
    'max-age=',
    's-maxage=',
    '=',
    '"',
  ],
  start: () => (input) => {
    const text = input.toString('latin1').replaceAll(/[\0\r\n]/g, '');
    const address = canonicalAddress(text);
    if (address !== null) {
      hold(
        isIP(address) !== 0 && written(address) === address,
        'an address is not written as it should be',
      );
      hold(canonicalAddress(address) === address, 'an address has two forms');
      const network = findNetwork(address) ?? '';
      hold(
        isIPv4(address)
          ? network === address
          : network.endsWith('::/64') && isIPv6(network.slice(0, -3)),
        'a network is none',
      );
      if (isIPv6(address)) {
        const list = new BlockList();
        list.addSubnet(network.slice(0, -3), 64, 'ipv6');
        hold(list.check(address, 'ipv6'), 'an address is not in its network');
      }
      const isInternal = internal.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
      hold(!(isPublicAddress(text) && isInternal), 'an internal address counts as public');
      hold(
        !(isPublicAddress(text) && isLoopbackAddress(text)),
        'an address is public and of this machine',
      );
    } else hold(!isPublicAddress(text), 'what is not an address is public');
    let request: Request;
    try {
      request = new Request('https://app.example/', { headers: { 'X-Forwarded-For': text } });
    } catch {
      return;
    }
    for (const trusted of [0, 1, 2, 5]) {
      const resolved = resolveClientAddress(request, '192.0.2.1', trusted);
      hold(
        resolved !== null && isIP(resolved) !== 0 && canonicalAddress(resolved) === resolved,
        'a caller has no address',
      );
      if (trusted === 0) hold(resolved === '192.0.2.1', 'a caller chose an address');
      // A caller behind a proxy can add any text at the front of the header.
      const more = new Request('https://app.example/', {
        headers: { 'X-Forwarded-For': `6.6.6.6,${text.trim()},198.51.100.9` },
      });
      if (trusted === 1)
        hold(
          resolveClientAddress(more, '192.0.2.1', 1) === '198.51.100.9',
          'a caller chose an address behind a proxy',
        );
    }
    const seconds = secondsFresh({ 'cache-control': text, age: text, expires: text });
    hold(seconds >= 300 && seconds <= 86_400, 'something is kept for too long');
  },
};
