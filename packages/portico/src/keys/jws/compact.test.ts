import { describe, expect, test } from 'vitest';
import { JwsError, parseJws } from './compact.ts';

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64url');
const jws = (header: string | Buffer = '{"alg":"none"}', payload: string | Buffer = '{}') =>
  `${encoded(header)}.${encoded(payload)}.AAAA`;
/** Returns the JSON text of an object, with this many bytes. */
const objectOf = (bytes: number) => JSON.stringify({ a: 'a'.repeat(bytes - 8) });
/**
 * Returns a JWS whose parts have these numbers of characters. A base64url text never has 4n + 1
 * characters.
 */
const ofLengths = (header: number, payload: number, signature: number) =>
  `${encoded(objectOf((header * 3) / 4))}.${encoded(objectOf((payload * 3) / 4))}.${'A'.repeat(signature)}`;

describe('A JWS', () => {
  test('consists of a header, a payload, a signature, and the signed text', () => {
    const text = jws('{"alg":"ES256","kid":"a"}', '{"sub":"b","aud":["c"],"more":{"d":1}}');
    expect(parseJws(text)).toEqual({
      header: { alg: 'ES256', kid: 'a' },
      payload: { sub: 'b', aud: ['c'], more: { d: 1 } },
      signed: Buffer.from(text.slice(0, text.lastIndexOf('.'))),
      signature: Buffer.from([0, 0, 0]),
    });
  });

  test('is read up to the maximum length of each part, and of the whole text', () => {
    const longest = ofLengths(4096, 8192, 700);
    expect(longest).toHaveLength(4096 + 8192 + 700 + 2);
    expect(parseJws(longest).signature).toHaveLength(525);
    for (const text of [`${longest}A`, `${longest}.`, 'a'.repeat(1_000_000)])
      expect(() => parseJws(text)).toThrow('it is too long');
  });

  test.each([
    ['its header is too long', ofLengths(4100, 12, 4)],
    ['its payload is too long', ofLengths(12, 8196, 4)],
    ['its signature is too long', ofLengths(12, 12, 702)],
    ['it has more than three parts', `${jws()}.`],
    ['it has more than three parts', `${jws()}.a.b`],
    ['its header is missing or not base64url', ''],
    ['its header is missing or not base64url', '..'],
    ['its header is missing or not base64url', ` ${jws()}`],
    ['its payload is missing or not base64url', encoded('{}')],
    ['its payload is missing or not base64url', `${encoded('{}')}..AAAA`],
    ['its signature is missing or not base64url', `${encoded('{}')}.${encoded('{}')}`],
    ['its signature is missing or not base64url', `${encoded('{}')}.${encoded('{}')}.`],
    ['its signature is missing or not base64url', `${jws()}=`],
    ['its signature is missing or not base64url', `${encoded('{}')}.${encoded('{}')}.AB`],
    ['its signature is missing or not base64url', `${encoded('{}')}.${encoded('{}')}.AA+A`],
    ['its header is not JSON', jws('{"alg":')],
    ['its header is not JSON', jws('{"alg":"none"} {}')],
    ['its header is not JSON', jws('\u{FEFF}{}')],
    ['its payload is not JSON', jws('{}', 'text')],
    ['its header is not a JSON object', jws('["none"]')],
    ['its header is not a JSON object', jws('null')],
    ['its payload is not a JSON object', jws('{}', '"text"')],
    ['its payload is not a JSON object', jws('{}', '7')],
    ['its header is not UTF-8', jws(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))],
    ['its payload is not UTF-8', jws('{}', Buffer.from([0xff]))],
    ['its header has crit, which is not accepted', jws('{"crit":["exp"]}')],
    ['its header has crit, which is not accepted', jws('{"crit":null}')],
  ])('is refused if %s', (reason, text) => {
    let problem: unknown;
    try {
      parseJws(text);
    } catch (error) {
      problem = error;
    }
    expect(problem).toBeInstanceOf(JwsError);
    expect((problem as JwsError).message).toBe(reason);
  });

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    String.raw`{"a":1,"\u0061":2}`,
    '{"a":{"b":1},"a":2}',
    '{"a":[{"b":1},2],"a":3}',
    '{"a":{"b":[{}]},"c":{},"a":2}',
    '{"b":"{","a":1,"a":2}',
    '{"b":"]","a":1,"a":2}',
    String.raw`{"b":"\"{","a":1,"a":2}`,
    '{ "a" : 1 , "a" : 2 }',
    '{"a":{"b":1,"b":2}}',
    '{"a":[{"b":{"c":1,"c":2}}]}',
  ])('with a repeated member is refused: %s', (text) => {
    expect(() => parseJws(jws(text))).toThrow('its header has a member twice');
    expect(() => parseJws(jws('{}', text))).toThrow('its payload has a member twice');
  });

  test.each([
    '{"a":{"a":1},"b":{"a":2}}',
    '{"a":[{"a":1},{"a":2}],"b":1}',
    '{"a":["a","a"],"b":"a"}',
    String.raw`{"a":":","b":"\":{\"a\":1"}`,
    '{"a":1,"A":2,"":3}',
    '{"a":{"b":1},"b":2}',
  ])('may repeat a name at a different level or as a value: %s', (text) => {
    expect(parseJws(jws('{}', text)).payload).toEqual(JSON.parse(text));
  });
});
