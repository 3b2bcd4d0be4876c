import { BodyTooLargeError, OAuthError } from '../../../packages/portico/src/errors.ts';
import {
  createParameters,
  queryParameters,
  readForm,
  unrepeated,
} from '../../../packages/portico/src/parameters.ts';
import { formPairs } from '../support/form-oracle.ts';
import { hold, unless, unlessAsync, type Target } from '../target.ts';

const refuses = (error: unknown) =>
  error instanceof OAuthError || error instanceof BodyTooLargeError;
const FORM = 'application/x-www-form-urlencoded';
const NAMES = ['client_id', 'scope', 'state', 'code', '__proto__', '', 'a'];

/**
 * Returns two requests with this body, which the server reads in different ways: one that declares
 * its length, and one with a stream.
 */
function requests(input: Buffer): readonly Request[] {
  const url = 'https://app.example/oauth/token';
  const headers = { 'Content-Type': FORM };
  const body = new Uint8Array(input);
  const declared = new Request(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': String(body.length) },
    body,
  });
  const half = Math.floor(body.length / 2);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      if (half > 0) controller.enqueue(body.subarray(0, half));
      if (half < body.length) controller.enqueue(body.subarray(half));
      controller.close();
    },
  });
  const streamed = new Request(url, {
    method: 'POST',
    headers,
    body: stream,
    duplex: 'half',
  } as RequestInit);
  return [declared, streamed];
}

export const target: Target = {
  about: 'bodies and queries of forms: parameters, repeated ones, lengths, UTF-8',
  longest: 70_000,
  // Most of this time is for the second implementation.
  slowest: 1000,
  seeds: [
    'grant_type=authorization_code&code=abc&redirect_uri=https%3A%2F%2Fclient.example%2Fcb',
    'client_id=a&client_id=b',
    'scope=openid+profile&state=%F0%9F%98%80&empty=&=value&name',
    'a=1&a=&b=%zz&c=%',
    '\u{FEFF}a=b',
    '%EF%BF%BD=1',
  ],
  dictionary: [
    'client_id',
    'scope',
    'state',
    'code',
    '__proto__',
    '&',
    '=',
    '+',
    '%',
    '%EF%BF%BD',
    '%FF',
    '&a=',
    '\u{FFFD}',
    '\u{FEFF}',
  ],
  start: () => async (input) => {
    const read: (readonly [string, string][] | null)[] = [];
    for (const request of requests(input)) {
      const form = await unlessAsync(refuses, () => readForm(request));
      read.push(form === null ? null : [...form]);
    }
    const [declared = null, streamed = null] = read;
    const expected = formPairs(input);
    // A body that declares its length is also rejected if it really contains a replacement
    // character.
    if (expected !== null && !input.includes('\u{FFFD}'))
      hold(declared !== null || input.length > 65_536, 'a form in UTF-8 was refused');
    hold(
      streamed !== null || expected === null || input.length > 65_536,
      'a form in UTF-8 was refused in parts',
    );
    for (const pairs of [declared, streamed]) {
      if (pairs === null) continue;
      hold(expected !== null, 'a body that is not UTF-8 was read');
      // Node's URLSearchParams differs from the standard if the input contains bytes beyond ASCII
      // next to escapes that are not UTF-8.
      if (/^[\0-\x7F]*$/.test(input.toString('latin1')))
        hold(
          JSON.stringify(pairs) === JSON.stringify(expected),
          'the pairs are not those that were sent',
        );
    }
    const sent = input.toString('latin1').replaceAll(/[^\x21-\x7E]|#/g, '');
    const query = queryParameters(new Request(`https://app.example/oauth/authorize?${sent}`));
    const pairs = [...new URL(`https://app.example/?${sent}`).searchParams];
    for (const name of [...NAMES, ...[...query.values.keys()].slice(0, 8)]) {
      const values = pairs.filter(([each]) => each === name).map(([, value]) => value);
      hold(query.isRepeated(name) === values.length > 1, 'what is repeated is not told');
      const value = unless(refuses, () => query.get(name));
      if (values.length > 1) hold(value === null, 'one of several values was taken');
      else
        hold(
          value === (values[0] === '' ? undefined : values[0]),
          'another value than the one that was sent',
        );
      hold(query.has(name) === values.some((each) => each !== ''), 'it has what was not sent');
    }
    const all = new URLSearchParams(pairs);
    const single = unless(refuses, () => unrepeated(all));
    hold(
      (single === null) === new Set(pairs.map(([name]) => name)).size < pairs.length,
      'a repeated parameter passed',
    );
    createParameters(all);
  },
};
