import { describe, expect, test } from 'vitest';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';

describe('the check for public internet addresses', () => {
  test.each([
    '1.1.1.1',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700::6810:84e5',
    '2a00:1450:4001:81b::200e',
    '2001:4860:4860::8888',
    // An IPv4 address that is mapped to IPv6 counts as the IPv4 address.
    '::ffff:1.1.1.1',
  ])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    ['this machine', '127.0.0.1'],
    ['this machine', '127.255.255.254'],
    ['this machine', '::1'],
    ['this machine, mapped', '::ffff:127.0.0.1'],
    ['this machine, mapped, in hexadecimal', '::ffff:7f00:1'],
    ['this machine, in a form that is no longer used', '::127.0.0.1'],
    ['any address of this machine', '0.0.0.0'],
    ['any address of this machine', '::'],
    ['this network', '0.1.2.3'],
    ['a private network', '10.0.0.1'],
    ['a private network', '172.16.0.1'],
    ['a private network', '172.31.255.255'],
    ['a private network', '192.168.0.1'],
    ['a private network, mapped', '::ffff:10.0.0.1'],
    ['a network behind a provider', '100.64.0.1'],
    ['a network behind a provider', '100.100.100.200'],
    ['a cloud’s metadata', '169.254.169.254'],
    ['a cloud’s metadata, mapped', '::ffff:a9fe:a9fe'],
    ['a cloud’s metadata', 'fd00:ec2::254'],
    ['a cloud’s metadata', '192.0.0.192'],
    ['the internal services of a cloud', '168.63.129.16'],
    ['a link-local network', 'fe80::1'],
    ['a link-local network with a zone', 'fe80::1%eth0'],
    ['a site-local network', 'fec0::1'],
    ['a unique local network', 'fc00::1'],
    ['a unique local network', 'fdff:ffff::1'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['benchmarks', '198.18.0.1'],
    ['benchmarks', '2001:2::1'],
    ['a relay', '192.88.99.1'],
    ['translated IPv4', '64:ff9b::7f00:1'],
    ['translated IPv4 with a local prefix', '64:ff9b:1::a00:1'],
    ['6to4', '2002:7f00:1::'],
    ['6to4', '2002:a9fe:a9fe::1'],
    ['Teredo', '2001::1'],
    ['ORCHID', '2001:20::1'],
    ['discarded', '100::1'],
    ['segment routing', '5f00::1'],
    ['unassigned', '4000::1'],
    ['a text that is not an address', 'localhost'],
    ['a text that is not an address', ''],
    ['a decimal address', '2130706433'],
    ['an octal address', '0177.0.0.1'],
  ])('refuses %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('distinguishes loopback from other non-public addresses', () => {
    const own = ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'];
    expect(own.filter(isLoopbackAddress)).toEqual(own);
    const others = [
      '10.0.0.1',
      '169.254.169.254',
      '::',
      '0.0.0.0',
      'fe80::1',
      '::ffff:10.0.0.1',
      '1.1.1.1',
      '',
    ];
    expect(others.filter(isLoopbackAddress)).toEqual([]);
  });
});
