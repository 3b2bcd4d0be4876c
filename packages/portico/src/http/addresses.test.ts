import fc from 'fast-check';
import { isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import { canonicalAddress, findNetwork } from './addresses.ts';

const NEAR_AN_ADDRESS = '0 1 2 5 9 a b f F x g : : . . [ ] % / , "'.split(' ');

describe('an address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:41234', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:8080', 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::FFFF:203.0.113.7]:80', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::', '::'],
    ['::1', '::1'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'],
    ['1::ffff:cb00:7107', '1::ffff:cb00:7107'],
    ['::1:ffff:cb00:7107', '::1:ffff:cb00:7107'],
    ['1:1:1:1:1:ffff:cb00:7107', '1:1:1:1:1:ffff:cb00:7107'],
  ])('%s is normalized to %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    '',
    'unknown',
    '_hidden',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.07',
    '0xcb.0.0.1',
    '3405803783',
    '203.0.113.7:',
    '203.0.113.7:x',
    '203.0.113.7:65536',
    '203.0.113.7:100000',
    '203.0.113.7:1:2',
    '203.0.113.7%eth0',
    '::%1%',
    '[::1%a%b]:80',
    '[203.0.113.7]:80',
    '[2001:db8::1',
    '2001:db8::1]',
    '[2001:db8::1]443',
    '[2001:db8::1]:',
    '2001:db8::1::2',
    '2001:db8:::1',
    '1:2:3:4:5:6:7:8:9',
    '2001:db8::g',
    '"[2001:db8::1]:443"',
    '203.0.113.7/32',
    '203.0.113.7 ',
    'http://203.0.113.7',
    '２０３.0.113.7',
  ])('%j is not an address', (text) => {
    expect(canonicalAddress(text)).toBeNull();
  });

  test('has the same normal form with any port, zone and spelling', () => {
    const port = fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: null });
    const v4 = fc.ipV4().map((address) => ({ address, spellings: [address, `::ffff:${address}`] }));
    const v6 = fc
      .array(fc.integer({ min: 0, max: 65_535 }), { minLength: 8, maxLength: 8 })
      .map((groups) => {
        const hex = groups.map((group) => group.toString(16));
        const spelled = [
          hex.join(':'),
          hex.map((group) => group.padStart(4, '0')).join(':'),
          hex.join(':').toUpperCase(),
        ];
        return {
          address: hex.join(':'),
          spellings: [...spelled, ...spelled.map((each) => `${each}%eth0`)],
        };
      });
    fc.assert(
      fc.property(fc.oneof(v4, v6), port, fc.nat(), ({ address, spellings }, at, choice) => {
        const spelling = spellings[choice % spellings.length] ?? address;
        const canonical = canonicalAddress(address);
        expect(canonical).not.toBeNull();
        const sent = spelling.includes(':')
          ? `[${spelling}]${at === null ? '' : `:${at}`}`
          : `${spelling}${at === null ? '' : `:${at}`}`;
        expect(canonicalAddress(sent)).toBe(canonical);
        expect(canonicalAddress(spelling)).toBe(canonical);
      }),
    );
  });

  test('is normalized to a valid IP address or null for every input', () => {
    const near = fc.string({ unit: fc.constantFrom(...NEAR_AN_ADDRESS), maxLength: 50 });
    fc.assert(
      fc.property(
        fc.oneof(near, fc.string({ unit: 'binary' }), fc.ipV4Extended(), fc.ipV6()),
        (text) => {
          const address = canonicalAddress(text);
          if (address === null) return;
          expect(isIP(address)).not.toBe(0);
          expect(canonicalAddress(address)).toBe(address);
          expect(findNetwork(address)).not.toContain('%');
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('the network of an address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
    ['2001::b:c:d:e:f', '2001:0:0:b::/64'],
  ])('of %s is %s', (address, network) => {
    expect(findNetwork(address)).toBe(network);
  });

  test('is unknown for an unknown address', () => {
    expect(findNetwork(null)).toBeNull();
  });
});
