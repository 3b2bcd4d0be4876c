import { expect, test } from 'vitest';
import { fetchableUrlProblem, portProblem } from './fetchable-urls.ts';
import { uriTextProblem } from './uri-text.ts';

const START = 'https://a.example/';
/** Matches a text that contains this problem, or null. */
const sayingOf = (problem: string | null): unknown =>
  problem === null ? null : expect.stringContaining(problem);

const NORMAL = 'has no path, or is not in normal form';

test.each([
  [START, null],
  [`${START}${'a'.repeat(255 - START.length)}`, null],
  [`${START}${'a'.repeat(256 - START.length)}`, 'has more than 255 characters'],
  ['https://', 'is not a URL'],
  ['https://a.example:port/', 'is not a URL'],
  ['http://a.example/', 'is not https'],
  [`${START}#`, 'has a fragment'],
  ['https://user@a.example/', 'carries credentials'],
  ['https://:secret@a.example/', 'carries credentials'],
  ['https://a.example', NORMAL],
  ['https://a.example/../b', NORMAL],
  ['https://a.example:443/', NORMAL],
  ['https://192.0.2.1/', 'has an IP address instead of a host name'],
  ['https://[2001:db8::1]/', 'has an IP address instead of a host name'],
  ['https://a.example./', 'has a host that ends with a dot'],
])('the problem of fetching %s is: %s', (text, problem) => {
  expect(fetchableUrlProblem(text)).toEqual(sayingOf(problem));
});

test.each([
  ['https://a.example/', false, null],
  ['https://a.example:8443/', true, null],
  ['https://a.example:8443/', false, 'has a port other than 443'],
])('the problem of the port of %s, if any port is allowed (%s), is: %s', (url, any, problem) => {
  expect(portProblem(new URL(url), any)).toBe(problem);
});

test.each([
  ['', null],
  [
    'com.example.app:/a[b]',
    'has a bracket after the host, which is not allowed in a URI (RFC 3986); write %5B and %5D',
  ],
  ['https://[::1]/a]', 'has a bracket after the host'],
  ['https://[::1]:1/a', null],
  ['a[b]', null],
  ['https://a.example/%', 'has a percent sign that does not begin an escape; write it as %25'],
  ['https://a.example/%4', 'has a percent sign'],
  ['https://a.example/%41', null],
  [
    'https://a.example/ ',
    'has the character U+0020, which is not allowed in a URI (RFC 3986); percent-encode it',
  ],
  ['https://a.example/\u{1f600}', 'has the character U+1F600'],
  ['https://0x7f000001/', 'has a host that stands for the address 127.0.0.1; write that address'],
  [
    'https://b\u00fccher.example/',
    'has a host that browsers write as xn--bcher-kva.example; use that form',
  ],
  ['HTTPS://A.example/', null],
  ['https://', null],
  ['https:///a', 'has no host after its slashes'],
])('the problem of the text %j is: %s', (text, problem) => {
  expect(uriTextProblem(text)).toEqual(sayingOf(problem));
});
