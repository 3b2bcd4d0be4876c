import { expect, test } from 'vitest';
import { quoted, quotedClientId, quotedList, quotedPublic, quotedUri } from './quoting.ts';

const SECRET = 'aB3-_'.repeat(9).slice(0, 43);
const VERIFIER = `a.~${SECRET.slice(3)}`;

test.each([
  ['', '""'],
  ['plain text', '"plain text"'],
  ['a "b" \\c', '"a \\u{22}b\\u{22} \\u{5c}c"'],
  ['a\nb\u202e\u2028\u{e0001}', '"a\\u{a}b\\u{202e}\\u{2028}\\u{e0001}"'],
  [`a ${SECRET} b ${SECRET}`, '"a […] b […]"'],
  [`a ${VERIFIER} b ${VERIFIER}`, '"a […] b […]"'],
  [`${SECRET}+${SECRET.slice(1)}`, `"[…]+${SECRET.slice(1)}"`],
  [`${VERIFIER.slice(1)}+`, `"${VERIFIER.slice(1)}+"`],
  [`https://${VERIFIER}/a`, `"https://${VERIFIER}/a"`],
  [`https://a.example/${VERIFIER}`, '"https://a.example/[…]"'],
  [`https://${SECRET}/a`, '"https://[…]/a"'],
  ['a '.repeat(100), `"${'a '.repeat(100)}"`],
  [`${'a '.repeat(100)}b`, `"${'a '.repeat(100)}…"`],
  [`${'a '.repeat(150)}b`, `"${'a '.repeat(100)}…"`],
  // A secret can begin before the cut and end after it.
  [`${'a '.repeat(90)}${VERIFIER}`, `"${'a '.repeat(90)}…"`],
  [`${'a '.repeat(95)}b:${VERIFIER}`, `"${'a '.repeat(95)}b:…"`],
])('the log has %j as %s', (text, written) => {
  expect(quoted(text)).toBe(written);
});

test('a public value is neither shortened nor hidden', () => {
  const long = SECRET.repeat(10);
  expect(quotedPublic(`${long}\0`)).toBe(`"${long}\\u{0}"`);
});

test.each([
  ['https://a.example/b', '"https://a.example/b"'],
  ['https://a.example/b?c=d#e', '"https://a.example/b?…"'],
  ['https://a.example/b?c\nd', '"https://a.example/b?…"'],
  ['https://a.example/b#d?e', '"https://a.example/b#…"'],
  ['https://user:pass@a.example/@b', '"https://…@a.example/@b"'],
  ['https://a@b@c.example/', '"https://…@c.example/"'],
  ['https://a.example/b@c//d@e', '"https://a.example/b@c//…@e"'],
  ['https://a.example/b@c', '"https://a.example/b@c"'],
  ['https://@a.example/', '"https://…@a.example/"'],
])('the log has the URI %j as %s', (uri, written) => {
  expect(quotedUri(uri)).toBe(written);
});

test('a long list is counted after ten names', () => {
  const names = Array.from('abcdefghijkl');
  const ten = '"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"';
  expect(quotedList([])).toBe('');
  expect(quotedList(names.slice(0, 1))).toBe('"a"');
  expect(quotedList(names.slice(0, 10))).toBe(ten);
  expect(quotedList(names.slice(0, 11))).toBe(`${ten} and 1 more`);
  expect(quotedList(names)).toBe(`${ten} and 2 more`);
});

const SHORTENED = 'shortened because it may be a secret';

test.each([
  ['0123456789abcdef'.repeat(2), `"${'0123456789abcdef'.repeat(2)}"`],
  ['https://a.example/b?c', '"https://a.example/b?…"'],
  ['a-short-id-of-15', `"a-…15" (16 characters, ${SHORTENED})`],
  ['a-short-id-of15', '"a-short-id-of15"'],
  [`${'0123456789abcdef'.repeat(2)}0`, `"0123…def0" (33 characters, ${SHORTENED})`],
  [`g${'0123456789abcdef'.repeat(2)}`, `"g012…cdef" (33 characters, ${SHORTENED})`],
  ['0123456789ABCDEF'.repeat(2), `"0123…CDEF" (32 characters, ${SHORTENED})`],
  ['a-secret-of-23-letters.', `"a-…s." (23 characters, ${SHORTENED})`],
  ['a-secret-of-24-letters..', `"a-s…s.." (24 characters, ${SHORTENED})`],
  ['x https://a.example/', `"x …e/" (20 characters, ${SHORTENED})`],
  [`\u{1f600}${'a'.repeat(30)}"`, `"\u{1f600}aaa…aaa\\u{22}" (32 characters, ${SHORTENED})`],
])('an unknown client id %j is in the log as %s', (clientId, written) => {
  expect(quotedClientId(clientId)).toBe(written);
});
