import fc, { type Arbitrary } from 'fast-check';
import type { RunningPortal } from './portal.ts';

/** Generators of malformed and malicious requests, for fast-check. */

/** A request without its method and path. It is plain data, so that a failing run can print it. */
export interface Sent {
  /** The query with its `?`, or an empty text. */
  readonly query: string;
  readonly headers: readonly Pair[];
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

export type Pair = readonly [name: string, value: string];

export function requestOf(
  portal: RunningPortal,
  method: string,
  path: string,
  sent: Sent,
): Request {
  const headers = new Headers();
  for (const [name, value] of sent.headers) headers.append(name, value);
  return new Request(`${portal.url}${path}${sent.query}`, { method, headers, body: sent.body });
}

// --- words
// ----------------------------------------------------------------------------------------------------

/** Part of some words. If a page repeated it without escaping, the script would run. */
export const MARKUP = '"><script>alert(1)</script>';

const ODD_WORDS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u{FEFF}',
  '\u202Egnp.exe',
  '\u2028',
  '\uD800',
  '\uDC00\uD800',
  '%',
  '%zz',
  '%00',
  '%c0%af',
  '%ff%fe',
  '%u0041',
  '+',
  '&',
  '=',
  ';',
  '#',
  '..',
  '../../../../etc/passwd',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'undefined',
  'null',
  'NaN',
  '-1',
  '1e999',
  '[]',
  '{"a":{"b":1}}',
  "' OR '1'='1' --",
  '<%= it %>',
  '{exception}',
  '$&$`',
  MARKUP,
  '\r\nLocation: https://evil.example/\r\n\r\n',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://evil.example/',
  'HTTPS:evil.example',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/%2f/evil.example',
  '/./\\evil.example',
  '/..//evil.example',
  '/@evil.example',
  '@evil.example',
  '.evil.example',
  'code',
  'openid',
  'authorization_code',
  'client_credentials',
  'S256',
  'plain',
] as const;

/** Any UTF-16 code unit, including lone surrogates and NUL. */
const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

/** Words near the size limit of a form (64 KiB), and much larger ones. */
const hugeWord = fc
  .tuple(
    fc.constantFrom('a', '\0', '%', '/', '[', '%41', 'a=b&', 'é', '😀'),
    fc.constantFrom(1024, 16_384, 65_535, 65_536, 65_537, 131_072),
  )
  .map(([part, bytes]) => part.repeat(Math.ceil(bytes / Buffer.byteLength(part))));

const nestedWord = fc
  .tuple(fc.constantFrom('[', '{"a":', '[a]', '('), fc.integer({ min: 1, max: 500 }))
  .map(([part, depth]) => part.repeat(depth));

const oddWord = fc.constantFrom(...ODD_WORDS);

export const word: Arbitrary<string> = fc.oneof(
  { weight: 120, arbitrary: oddWord },
  { weight: 40, arbitrary: fc.string({ unit, maxLength: 30 }) },
  { weight: 40, arbitrary: fc.tuple(oddWord, oddWord).map((words) => words.join('')) },
  { weight: 10, arbitrary: nestedWord },
  { weight: 1, arbitrary: hugeWord },
);

const NOT_IN_A_TOKEN = [
  '\0',
  ' ',
  '%',
  '.',
  '/',
  '=',
  '[',
  'é',
  'Ａ',
  '\uD800',
  '\u{FEFF}',
] as const;

/**
 * Changes, adds or removes one character of the value. Never changes the first one, because servers
 * ignore leading spaces in a header. No prefix of the result equals the value. Otherwise, an `&`
 * from a broken encoding could make the result valid.
 */
export function nearMiss(value: string): Arbitrary<string> {
  return fc
    .tuple(
      fc.integer({ min: 1, max: value.length - 1 }),
      fc.constantFrom(...NOT_IN_A_TOKEN, '', 'A', 'b'),
      fc.boolean(),
    )
    .map(([at, put, inserted]) => {
      const [before, replaced = '', after] = [value.slice(0, at), value[at], value.slice(at + 1)];
      if (inserted && !/^\w?$/.test(put)) return `${before}${put}${replaced}${after}`;
      return `${before}${put === replaced ? '!' : put}${after}`;
    });
}

// --- parameters
// -----------------------------------------------------------------------------------------------

/** The parameters of a valid request. Each has a generator whose values are mostly almost valid. */
export type Parameters = Readonly<Record<string, Arbitrary<string>>>;

const oddName = fc.oneof(
  fc.constantFrom(
    'state',
    'scope',
    'resource',
    'request',
    'response_mode',
    'token_type_hint',
    'client_id[]',
    'client_id[a][b][c]',
    'a[b][c][d]',
    '__proto__[x]',
    '_csrf',
    'return_to',
    'Client_Id',
    'client_id ',
    'client_id\0',
  ),
  word,
);

/**
 * Almost valid pairs. Pairs can be missing, empty, repeated, nested or odd. Odd pairs can be added.
 */
function pairsNear(parameters: Parameters): Arbitrary<readonly Pair[]> {
  const each = Object.entries(parameters).map(([name, value]): Arbitrary<readonly Pair[]> =>
    fc.oneof(
      { weight: 40, arbitrary: value.map((right): Pair[] => [[name, right]]) },
      { weight: 2, arbitrary: word.map((odd): Pair[] => [[name, odd]]) },
      { weight: 1, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.tuple(value, word).map(([right, odd]): Pair[] => [
          [name, right],
          [name, odd],
        ]),
      },
      { weight: 1, arbitrary: value.map((right): Pair[] => [[`${name}[a][b][]`, right]]) },
    ),
  );
  const odd = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.tuple(oddName, word), { maxLength: 3 }) },
  );
  return fc.tuple(odd, ...each).map((found) => found.flat());
}

const oddPairs: Arbitrary<readonly Pair[]> = fc.oneof(
  { weight: 20, arbitrary: fc.array(fc.tuple(oddName, word), { maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 100, max: 5000 })
      .map((count) => Array.from({ length: count }, (_, index): Pair => [`p${index}`, ''])),
  },
);

const FLAWS = [
  '%',
  '%z',
  '%00',
  '%ff%fe',
  '%ed%a0%80',
  '&',
  '&&',
  '=',
  ';',
  '+',
  '?',
  '\0',
  '\uD800',
];

/** Encodes the pairs with percent-encoding: correctly, with one error, or not at all. */
function encoded(pairs: Arbitrary<readonly Pair[]>): Arbitrary<string> {
  const right = pairs.map((given) =>
    new URLSearchParams(given.map(([name, value]) => [name, value])).toString(),
  );
  return fc.oneof(
    { weight: 16, arbitrary: right },
    {
      weight: 2,
      arbitrary: fc
        .tuple(right, fc.constantFrom(...FLAWS), fc.double({ min: 0, max: 1, noNaN: true }))
        .map(([text, flaw, where]) => {
          const at = Math.floor(where * text.length);
          return `${text.slice(0, at)}${flaw}${text.slice(at)}`;
        }),
    },
    { weight: 2, arbitrary: pairs.map((given) => given.map((pair) => pair.join('=')).join('&')) },
  );
}

function parametersNear(...alternatives: readonly Parameters[]): Arbitrary<string> {
  return encoded(
    fc.oneof(
      { weight: 4 * alternatives.length, arbitrary: fc.oneof(...alternatives.map(pairsNear)) },
      { weight: alternatives.length, arbitrary: oddPairs },
    ),
  );
}

/** A query with almost valid parameters of one of these requests. */
export function queryNear(...alternatives: readonly Parameters[]): Arbitrary<string> {
  return parametersNear(...alternatives).map((text) => `?${text}`);
}

/** A query for endpoints that expect none. */
export const anyQuery: Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: queryNear({}) },
);

// --- headers
// --------------------------------------------------------------------------------------------------

/** Any value of a header. It may contain all bytes except NUL and line breaks. */
const headerText = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.string({
      unit: fc
        .integer({ min: 1, max: 255 })
        .map((code) => (code === 10 || code === 13 ? ' ' : String.fromCharCode(code))),
      maxLength: 40,
    }),
  },
  { weight: 30, arbitrary: oddWord.map(forHeader) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', ' ', ',', ';', '='), fc.constantFrom(8192, 65_536))
      .map(([part, size]) => part.repeat(size)),
  },
);

/** Returns the UTF-8 bytes of a text. Bytes that a header must not contain become `?`. */
function forHeader(value: string): string {
  return Buffer.from(value, 'utf8')
    .toString('latin1')
    .replaceAll(/[\0\r\n]/g, '?');
}

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

/**
 * An `Authorization` header. It contains no client secret, because checking a secret is slow on
 * purpose.
 */
function authorizationNear(token: Arbitrary<string>): Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: token.map((value) => `Bearer ${forHeader(value)}`) },
    { weight: 2, arbitrary: token.map((value) => `bEaReR   ${forHeader(value)}  `) },
    headerText.map((text) => `Bearer ${text}`),
    headerText.map((text) => `Basic ${text.replaceAll(/[\w+/]/g, '!')}`),
    // These are not credentials, because the colon is missing or a part is malformed.
    word.map((text) => `Basic ${base64(text.replaceAll(':', ''))}`),
    word.map((text) => `Basic ${base64(`%zz${text}:${text}`)}`),
    fc.constantFrom(
      'Bearer',
      'Bearer ',
      'Basic',
      'Basic ',
      'Bearer,Bearer',
      'Digest a="b"',
      'Negotiate',
      '',
    ),
    headerText,
  );
}

/** A `Cookie` header that does not belong to a session. */
const oddCookie = fc.oneof(
  headerText,
  headerText.map((text) => `portico_session=${text}`),
  fc.constantFrom('portico_session', 'portico_session==;;=', `portico_session=${'A'.repeat(43)}`),
);

const oddHeader = fc.tuple(
  fc.constantFrom(
    'Accept',
    'Origin',
    'Referer',
    'Sec-Fetch-Site',
    'X-CSRF-Token',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'Forwarded',
    'Host',
    'Content-Encoding',
    'Content-Length',
    'Content-Type',
    'Range',
    'X-HTTP-Method-Override',
  ),
  headerText,
);

export interface HeaderOptions {
  /** Tokens for the `Authorization` header. */
  readonly token: Arbitrary<string>;
  /** The `Cookie` header of a signed-in browser. Most requests contain it. */
  readonly cookie?: string;
  /** The percentage of requests with an `Authorization` header. Default: 15. */
  readonly authorized?: number;
}

export function headersNear({
  token,
  cookie,
  authorized = 15,
}: HeaderOptions): Arbitrary<readonly Pair[]> {
  const nothing = fc.constant<readonly Pair[]>([]);
  const cookies = (value: string): Pair[] => [['Cookie', value]];
  return fc
    .tuple(
      fc.oneof(
        { weight: 100 - authorized, arbitrary: nothing },
        {
          weight: authorized,
          arbitrary: authorizationNear(token).map((text): Pair[] => [['Authorization', text]]),
        },
      ),
      fc.oneof(
        { weight: cookie === undefined ? 8 : 1, arbitrary: nothing },
        { weight: 2, arbitrary: oddCookie.map(cookies) },
        ...(cookie === undefined
          ? []
          : [
              { weight: 12, arbitrary: fc.constant(cookies(cookie)) },
              { weight: 1, arbitrary: nearMiss(cookie).map(forHeader).map(cookies) },
              {
                weight: 1,
                arbitrary: oddCookie.map((odd) => cookies(`${odd}; ${cookie}; ${cookie}`)),
              },
            ]),
      ),
      fc.oneof(
        { weight: 3, arbitrary: nothing },
        { weight: 1, arbitrary: fc.array(oddHeader, { maxLength: 3 }) },
      ),
    )
    .map((found) => found.flat());
}

// --- bodies
// ---------------------------------------------------------------------------------------------------

const FORM = 'application/x-www-form-urlencoded';

const mediaType = fc.oneof(
  { weight: 30, arbitrary: fc.constant(FORM) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      FORM.toUpperCase(),
      `${FORM} ; charset=utf-16`,
      `${FORM}, text/html`,
      'application/json',
      'text/plain',
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      'multipart/form-data; boundary=""',
      '',
    ),
  },
  { weight: 1, arbitrary: headerText },
);

const deepJson = fc.integer({ min: 1, max: 20_000 }).map((depth) => '{"client_id":['.repeat(depth));

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'utf8'));

/** An almost valid body for one of these forms, with a `Content-Type` header. */
function bodyNear(alternatives: readonly Parameters[]): Arbitrary<Pick<Sent, 'headers' | 'body'>> {
  const form = parametersNear(...alternatives);
  const body: Arbitrary<Sent['body']> = fc.oneof(
    { weight: 180, arbitrary: form },
    {
      weight: 3,
      arbitrary: fc
        .tuple(form, fc.constantFrom(65_535, 65_536, 65_537, 200_000))
        .map(([text, size]) => `${text}&pad=`.padEnd(size, 'x')),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(form, fc.uint8Array({ maxLength: 20 }))
        .map(([text, more]) => Uint8Array.from([...bytes(text), ...more])),
    },
    {
      weight: 4,
      arbitrary: fc.uint8Array({ maxLength: 200 }).map((found) => Uint8Array.from(found)),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(word, word)
        .map(
          ([name, value]) =>
            `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--x--\r\n`,
        ),
    },
    { weight: 1, arbitrary: deepJson },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  return fc
    .tuple(mediaType, body)
    .map(([type, sent]) => ({ headers: type === '' ? [] : [['Content-Type', type]], body: sent }));
}

// --- requests
// -------------------------------------------------------------------------------------------------

export function getNear(query: Arbitrary<string>, headers: HeaderOptions): Arbitrary<Sent> {
  return fc.record({ query, headers: headersNear(headers), body: fc.constant(null) });
}

/**
 * An almost valid POST of one of these forms. `also` contains headers for all of these requests.
 */
export function postNear(
  alternatives: readonly Parameters[],
  headers: HeaderOptions,
  also: readonly Pair[] = [],
): Arbitrary<Sent> {
  return fc
    .tuple(anyQuery, headersNear(headers), bodyNear(alternatives))
    .map(([query, given, { headers: type, body }]) => ({
      query,
      headers: [...also, ...type, ...given],
      body,
    }));
}

/** Returns requests of which one in fifty is `rare`. */
export function rarely(usual: Arbitrary<Sent>, rare: Arbitrary<Sent>): Arbitrary<Sent> {
  return fc.oneof({ weight: 49, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
