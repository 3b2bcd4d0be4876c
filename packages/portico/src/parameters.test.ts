import { describe, expect, test } from 'vitest';
import { BodyTooLargeError, OAuthError } from './errors.ts';
import {
  createParameters,
  FORM_LIMIT,
  formParameters,
  isForm,
  queryParameters,
  readForm,
  unrepeated,
} from './parameters.ts';

const FORM = 'application/x-www-form-urlencoded';
const URL_OF_IT = 'https://portal.example/oauth/token';

function posted(body: BodyInit, type: string | null = FORM): Request {
  const request = new Request(URL_OF_IT, { method: 'POST', body, duplex: 'half' } as RequestInit);
  request.headers.delete('content-type');
  if (type !== null) request.headers.set('content-type', type);
  return request;
}

/** Returns the error code, the message for the client, and the detail for the log. */
async function refusal(refused: () => unknown): Promise<readonly [string, string, string | null]> {
  try {
    await refused();
  } catch (error) {
    if (error instanceof OAuthError) return [error.code, error.message, error.detail];
    throw error;
  }
  throw new Error('it was not refused');
}

describe('request parameters', () => {
  const read = () =>
    createParameters(new URLSearchParams('one=1&none=&twice=a&twice=b&again=&again=c'));

  test('without a value count as missing, and repeated ones are an error', async () => {
    const parameters = read();
    expect(['one', 'none', 'never'].map((name) => parameters.get(name))).toEqual([
      '1',
      undefined,
      undefined,
    ]);
    expect(parameters.require('one')).toBe('1');
    for (const name of ['none', 'never']) {
      expect(await refusal(() => parameters.require(name))).toEqual([
        'invalid_request',
        `The parameter ${name} is missing.`,
        null,
      ]);
    }
    for (const name of ['twice', 'again']) {
      const expected = ['invalid_request', `The parameter ${name} is repeated.`, null];
      expect(await refusal(() => parameters.get(name))).toEqual(expected);
      expect(await refusal(() => parameters.require(name))).toEqual(expected);
    }
  });

  test('can be queried for their first value, presence and repetition', () => {
    const parameters = read();
    const names = ['one', 'none', 'never', 'twice', 'again'];
    expect(names.map((name) => parameters.has(name))).toEqual([true, false, false, true, true]);
    expect(names.map((name) => parameters.isRepeated(name))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(names.map((name) => parameters.all(name))).toEqual([
      ['1'],
      [''],
      [],
      ['a', 'b'],
      ['', 'c'],
    ]);
    expect([...parameters.values]).toEqual([
      ['one', '1'],
      ['none', ''],
      ['twice', 'a'],
      ['again', ''],
    ]);
  });

  test('of a query come from the URL', () => {
    expect([...queryParameters(new Request(`${URL_OF_IT}?a=1&b=%20`)).values]).toEqual([
      ['a', '1'],
      ['b', ' '],
    ]);
  });

  test('can be refused if any name is repeated, and the log contains the names', async () => {
    expect(await refusal(() => unrepeated(new URLSearchParams('a=1&b=2&a=1&b=&c=3')))).toEqual([
      'invalid_request',
      'A parameter is repeated.',
      'repeated: "a", "b"',
    ]);
    expect(unrepeated(new URLSearchParams('a=1&b=2')).get('b')).toBe('2');
  });
});

describe('a form', () => {
  test('is recognized by its media type in any case, with or without parameters', () => {
    for (const type of [FORM, FORM.toUpperCase(), `${FORM}; charset=utf-8`])
      expect(isForm(posted('', type))).toBe(true);
    for (const type of [null, '', 'text/plain', `${FORM}x`, 'multipart/form-data'])
      expect(isForm(posted('', type))).toBe(false);
  });

  test('of a different media type is refused, and the log contains the type', async () => {
    const message = 'The body must be application/x-www-form-urlencoded.';
    for (const [type, detail] of [
      [null, 'it has no Content-Type'],
      ['text/plain', 'its Content-Type is "text/plain"'],
    ] as const) {
      const expected = ['invalid_request', message, detail];
      expect(await refusal(() => readForm(posted('a=1', type)))).toEqual(expected);
      expect(await refusal(() => formParameters(posted('a=1', type)))).toEqual(expected);
    }
  });

  test('is read exactly as sent, even with a leading question mark', async () => {
    expect([...(await readForm(posted('a=1&a=2&b=')))]).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['b', ''],
    ]);
    expect([...(await readForm(posted('?a=1')))]).toEqual([['?a', '1']]);
    expect([...(await readForm(posted('a?=1&?b=2')))]).toEqual([
      ['a?', '1'],
      ['?b', '2'],
    ]);
  });

  test('with a repeated name is refused, if repetition is not allowed', async () => {
    expect((await formParameters(posted('a=1&b=2'))).get('a')).toBe('1');
    expect(await refusal(() => formParameters(posted('a=1&a=1')))).toEqual([
      'invalid_request',
      'A parameter is repeated.',
      'repeated: "a"',
    ]);
  });

  test('may have at most 64 KiB, to the byte', async () => {
    const longest = `a=${'x'.repeat(FORM_LIMIT - 2)}`;
    expect((await readForm(posted(longest))).get('a')).toHaveLength(65_534);
    await expect(readForm(posted(`${longest}x`))).rejects.toThrow(BodyTooLargeError);
    await expect(readForm(posted(`${longest}x`))).rejects.toThrow(
      'The body is larger than 64 KiB.',
    );
  });

  test('that is incomplete or not UTF-8 causes no server error', async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('hung up')),
    });
    expect(await refusal(() => readForm(posted(broken)))).toEqual([
      'invalid_request',
      'The body broke off.',
      null,
    ]);
    expect(await refusal(() => readForm(posted(new Uint8Array([0x61, 0x3d, 0xff]))))).toEqual([
      'invalid_request',
      'The body is not UTF-8.',
      null,
    ]);
  });
});
