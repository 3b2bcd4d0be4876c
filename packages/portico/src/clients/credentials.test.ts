import { describe, expect, test } from 'vitest';
import { assertionReader } from './reading-assertions.ts';
import { JwsError } from '../keys/jws/compact.ts';
import { createParameters } from '../parameters.ts';
import { readCredentials } from './credentials.ts';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const basic = (text: string, scheme = 'Basic') =>
  `${scheme} ${Buffer.from(text).toString('base64')}`;

function read(
  header: string | null,
  form: Readonly<Record<string, string>> = {},
  takesAssertions = false,
) {
  const request = new Request('https://portal.example/oauth/token', {
    method: 'POST',
    headers: header === null ? {} : { Authorization: header },
  });
  return readCredentials(
    request,
    createParameters(new URLSearchParams(form)),
    takesAssertions ? assertionReader([TYPE]) : null,
  );
}
const assertionOf = (payload: object) =>
  [{ alg: 'ES256' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
    .concat('.AAAA');

describe('HTTP Basic client authentication', () => {
  // @shows AS-9.2
  test.each([
    ['unchanged', basic('a:b'), 'a', 'b'],
    [
      'with a lowercase scheme, after several spaces',
      basic('a:b').replace('Basic ', ' basic   '),
      'a',
      'b',
    ],
    ['with an empty secret', basic('a:'), 'a', ''],
    ['with colons in the secret', basic('a:b:c'), 'a', 'b:c'],
    ['form-encoded', basic('a%3Ab%25:c+d%2B'), 'a:b%', 'c d+'],
    ['with only spaces encoded', basic('a+b+c:d+e+f'), 'a b c', 'd e f'],
    ['padded', basic('ab:c'), 'ab', 'c'],
    ['with letters outside ASCII', basic('é:ü'), 'é', 'ü'],
  ])('is read %s', (_, header, clientId, secret) => {
    const expected = { method: 'client_secret_basic', clientId, secret };
    expect(read(header)).toEqual(expected);
    expect(read(header, { client_id: clientId })).toEqual(expected);
  });

  // @shows AS-9.2, RFC6749-5.2b
  test.each([
    'Basic',
    'basic',
    'Basic !',
    `${basic('a:b')} c`,
    `${basic('a:b')}!`,
    'Basic,a:b',
    basic('no colon'),
    basic(':x'),
    basic('%zz:x'),
    basic('a:%zz'),
  ])('that is malformed is refused, whatever the body contains: %j', (header) => {
    const refusal = expect.objectContaining({ code: 'invalid_client' }) as Error;
    expect(() => read(header, { client_id: 'a', client_secret: 'b' })).toThrow(refusal);
    expect(() => read(header)).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('not HTTP Basic') }) as Error,
    );
  });

  // @shows AS-9.2
  test('ignores other schemes', () => {
    const form = { client_id: 'a', client_secret: 'b' };
    for (const header of [
      basic('a:b', 'Basics'),
      basic('a:b', 'XBasic'),
      `Bearer ${basic('a:b')}`,
      'DPoP x',
    ])
      expect(read(header, form)).toMatchObject({ method: 'client_secret_post' });
  });

  // @shows AS-9.2
  test('is refused together with a secret or a different client id in the body', () => {
    const refusal = expect.objectContaining({ code: 'invalid_request' }) as Error;
    expect(() => read(basic('a:b'), { client_secret: 'b' })).toThrow(refusal);
    expect(() => read(basic('a:b'), { client_id: 'c' })).toThrow(refusal);
  });
});

// @shows AS-9.1, AS-9.2
test('a body with client_id and secret is client_secret_post, client_id alone is none, else an error', () => {
  expect(read(null, { client_id: 'a', client_secret: 'b' })).toEqual({
    method: 'client_secret_post',
    clientId: 'a',
    secret: 'b',
  });
  expect(read(null, { client_id: 'a' })).toEqual({ method: 'none', clientId: 'a' });
  const refusal = expect.objectContaining({ code: 'invalid_client' }) as Error;
  expect(() => read(null, { client_secret: 'b' })).toThrow(refusal);
  expect(() => read(null)).toThrow(refusal);
});

describe('a client assertion', () => {
  const sent = (payload: object, more: Readonly<Record<string, string>> = {}) =>
    read(
      null,
      { client_assertion: assertionOf(payload), client_assertion_type: TYPE, ...more },
      true,
    );

  // @shows AS-23.2, RFC7521-4.2
  test('names the client by its sub, unless the request has a client_id', () => {
    const credentials = sent({ sub: 'a' });
    expect(credentials).toMatchObject({
      method: 'assertion',
      clientId: 'a',
      assertion: { payload: { sub: 'a' } },
    });
    expect(sent({ sub: 'a' }, { client_id: 'b' }).clientId).toBe('b');
    expect([sent({}).clientId, sent({ sub: 1 }).clientId, sent({ sub: ['a'] }).clientId]).toEqual([
      '',
      '',
      '',
    ]);
  });

  // @shows AS-23.2
  test('that is malformed is an error for the client that the request names', () => {
    for (const form of [{ client_assertion: 'a' }, { client_assertion_type: 'urn:x' }]) {
      for (const client_id of ['a', '']) {
        const credentials = sent({ sub: 'b' }, { ...form, client_id });
        expect(credentials).toMatchObject({ method: 'assertion', clientId: client_id });
        expect(credentials).toHaveProperty('assertion', expect.any(JwsError));
      }
    }
    const other = { client_assertion: assertionOf({}), client_assertion_type: 'urn:x' };
    expect(read(null, other, true)).toHaveProperty(
      'assertion.message',
      'its client_assertion_type is not that of a JWT',
    );
  });

  // @shows AS-23.2
  test('must be complete, and the only authentication method of the request', () => {
    const refusal = expect.objectContaining({ code: 'invalid_request' }) as Error;
    const whole = { client_assertion: assertionOf({ sub: 'a' }), client_assertion_type: TYPE };
    const { client_assertion, client_assertion_type } = whole;
    expect(() => read(null, { client_id: 'a', client_assertion }, true)).toThrow(refusal);
    expect(() => read(null, { client_id: 'a', client_assertion_type }, true)).toThrow(refusal);
    expect(() => read(basic('a:b'), whole, true)).toThrow(refusal);
    expect(() => read(null, { ...whole, client_id: 'a', client_secret: 'b' }, true)).toThrow(
      refusal,
    );
  });

  // @shows AS-23.1
  test('is ignored while assertions are disabled', () => {
    const form = {
      client_assertion: assertionOf({ sub: 'a' }),
      client_assertion_type: TYPE,
      client_id: 'b',
    };
    expect(read(null, form)).toEqual({ method: 'none', clientId: 'b' });
    expect(read(basic('b:c'), form)).toMatchObject({
      method: 'client_secret_basic',
      clientId: 'b',
    });
    expect(read(null, { client_id: 'b' }, true)).toEqual({ method: 'none', clientId: 'b' });
  });
});
