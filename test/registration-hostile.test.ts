// @engines sqlite: rejected requests are not stored
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** Requests that anyone may send to the registration endpoint. */

let portal: RunningPortal;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: { oauth_server: { registration: 'open' } },
  });
});
// Time passes, so that the limit of a network starts again.
beforeEach(() => clock.advance(7200));
afterAll(() => portal.close());

const LOOPBACK = 'http://127.0.0.1/callback';
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

function send(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${portal.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
}

async function kept(): Promise<number> {
  return (await portal.server.clients.list()).length;
}

/**
 * Returns the error of a rejected request. The response must not repeat the request, and must not
 * be a server error.
 */
async function refusal(response: Response): Promise<string> {
  const text = await response.text();
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.status).toBeLessThan(500);
  expect(text).not.toContain('evil');
  const { error, error_description: description } = JSON.parse(text) as Record<string, string>;
  expect(description).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  return error ?? '';
}

describe('an invalid registration body is refused, and nothing is stored:', () => {
  // @shows AS-6.19, AS-22.5
  test.each([
    ['an empty body', ''],
    ['an incomplete object', '{"redirect_uris":["https://evil'],
    ['a list', `[{"redirect_uris":["${LOOPBACK}"]}]`],
    ['a string', '"evil"'],
    ['a number', '1'],
    ['null', 'null'],
    ['true', 'true'],
    ['two objects', '{}{}'],
    ['a comment', '{"redirect_uris":["http://127.0.0.1/"]} // evil'],
    ['single quotes', "{'redirect_uris':['http://127.0.0.1/']}"],
    ['a form', 'redirect_uris=http%3A%2F%2F127.0.0.1%2F'],
    ['NaN', '{"redirect_uris":NaN}'],
    ['a byte order mark', '\u{FEFF}{"redirect_uris":["evil:/"]}'],
    ['deeply nested lists', nested(30_000)],
    ['deeply nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('%s', async (_, body) => {
    const before = await kept();
    expect(['invalid_request', 'invalid_redirect_uri']).toContain(await refusal(await send(body)));
    expect(await kept()).toBe(before);
  });

  test('bytes that are not UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"client_name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect(await refusal(await send(new Uint8Array(body)))).toBe('invalid_request');
  });

  test('a body of more than 64 KiB', async () => {
    const response = await send(
      JSON.stringify({ redirect_uris: [LOOPBACK], client_uri: 'x'.repeat(65_536) }),
    );
    expect(response.status).toBe(413);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jose',
    '',
  ])('JSON with the Content-Type %j, which any page may send', async (type) => {
    const response = await send(JSON.stringify({ redirect_uris: [LOOPBACK] }), {
      'Content-Type': type,
    });
    expect(await refusal(response)).toBe('invalid_request');
  });
});

/** Values that no field accepts. */
const ODD: readonly (readonly [string, unknown])[] = [
  ['a number', 1],
  ['true', true],
  ['an object', { evil: 'evil' }],
  ['an empty object', {}],
  ['a list of numbers', [1, 2]],
  ['a list of lists', [[LOOPBACK]]],
  ['a list with null', [null]],
  ['a list of objects', [{ toString: 'evil' }]],
  ['a mixed list', [LOOPBACK, 1]],
];
const TEXTS = [
  'client_name',
  'scope',
  'token_endpoint_auth_method',
  'application_type',
  'id_token_signed_response_alg',
];
const LISTS = ['redirect_uris', 'grant_types', 'response_types'];

describe('a field with the wrong type is refused, and not converted:', () => {
  // @shows AS-22.5
  test.each(
    [...TEXTS, ...LISTS].flatMap((field) =>
      [
        ...ODD,
        LISTS.includes(field)
          ? (['a text', 'evil'] as const)
          : (['a list of texts', ['evil']] as const),
      ].map(([what, value]) => ({ field, what, value })),
    ),
  )('$field that is $what', async ({ field, value }) => {
    const before = await kept();
    const response = await send(JSON.stringify({ redirect_uris: [LOOPBACK], [field]: value }));
    expect(['invalid_client_metadata', 'invalid_redirect_uri']).toContain(await refusal(response));
    expect(await kept()).toBe(before);
  });
});

describe('redirect URIs of self-registered clients', () => {
  // @shows AS-22.3, RFC7591-5
  test.each([
    'javascript:alert(document.domain)//evil',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,<script>evil</script>',
    'vbscript:evil',
    'blob:https://evil.example/1',
    'about:blank',
    'view-source:https://evil.example/',
    'http://evil.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1@evil.example/callback',
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1\\@evil.example/callback',
    'http://[::ffff:127.0.0.1]/callback',
    'http://0.0.0.0/callback',
    'http://localhost.evil.example/',
    'http://LOCALHOST/evil',
    'https:evil.example',
    'https:///evil.example/callback',
    'https:\\\\evil.example\\callback',
    '//evil.example/callback',
    '/callback?evil',
    '',
    ' https://evil.example/',
    'https://evil.example/\r\nSet-Cookie: evil=1',
    'https://evil.example/\0',
    'https://еvil.example/',
    'https://*.evil.example/',
    'https://evil.example/#evil',
    'https://user:evil@app.example/',
    'https://@evil.example/',
    'https://:@evil.example/',
    'com.evil.app://@host/',
    'https://evil.example/?code=1',
    'https://evil.example/?a=1&%69ss=x',
    'com.evil.app:',
    'com.evil.app:/callback#x',
    'com.evil.app://user@host/',
    'COM.evil.app:/callback',
    'evil:/callback',
    `https://evil.example/${'x'.repeat(4000)}`,
  ])('are refused if %j is among them, alone or with a valid one', async (uri) => {
    const before = await kept();
    for (const redirectUris of [[uri], [LOOPBACK, uri]]) {
      const response = await send(JSON.stringify({ redirect_uris: redirectUris }));
      expect(await refusal(response)).toBe('invalid_redirect_uri');
    }
    expect(await kept()).toBe(before);
  });

  test('are refused if there are more than twenty', async () => {
    const uris = Array.from({ length: 21 }, (_, index) => `https://app.example/${index}`);
    expect(await refusal(await send(JSON.stringify({ redirect_uris: uris })))).toBe(
      'invalid_redirect_uri',
    );
  });

  test('with an application scheme are omitted if there is a valid one', async () => {
    for (const scheme of [
      'javascript',
      'data',
      'file',
      'ftp',
      'ws',
      'intent',
      'cursor',
      'vscode',
    ]) {
      const redirectUris = [LOOPBACK, `${scheme}://%0Aalert(1)`];
      const response = await send(JSON.stringify({ redirect_uris: redirectUris }));
      expect(await response.json()).toMatchObject({ redirect_uris: [LOOPBACK] });
    }
  });
});

describe('special JavaScript property names in a registration are ignored:', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s', async (name) => {
    const polluting = `{"redirect_uris":["${LOOPBACK}"],"${name}":{"client_name":"evil","scope":"evil","id":"evil"}}`;
    const response = await send(polluting);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ client_name: 'An application without a name' });
    expect({}).not.toHaveProperty('client_name');
  });

  // RFC 8259 section 4 does not define the meaning of a repeated name. The server uses one of the
  // values, and checks it like any other value.
  test('a repeated field counts once', async () => {
    const good = `"redirect_uris":["${LOOPBACK}"]`;
    const bad = '"redirect_uris":["http://evil.example/"]';
    const registered = await send(`{${bad},${good}}`);
    expect(await registered.json()).toMatchObject({ redirect_uris: [LOOPBACK] });
    expect(await refusal(await send(`{${good},${bad}}`))).toBe('invalid_redirect_uri');
  });

  // @shows AS-22.5
  test('IDs, secrets and rights that a client sets for itself are ignored', async () => {
    const response = await send(
      JSON.stringify({
        redirect_uris: [LOOPBACK],
        client_id: 'mine',
        client_secret: 'evil',
        client_id_issued_at: 1,
        registration_access_token: 'evil',
        registered_by: 'operator',
        registeredBy: 'operator',
        public: false,
        grants: ['introspection'],
        scopes: ['mcp:service'],
      }),
    );
    const client = (await response.json()) as Record<string, unknown>;
    expect(client['client_id']).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(client)).not.toContain('evil');
    expect(await portal.server.clients.find(String(client['client_id']))).toMatchObject({
      registeredBy: 'registration',
      public: true,
      grants: ['authorization_code'],
    });
  });
});

/** Returns the log lines that are written during the work. */
async function loggedDuring(work: () => Promise<unknown>): Promise<string> {
  const lines: string[] = [];
  const { log } = portal.server.host;
  const info = log.info.bind(log);
  log.info = (message, context) => {
    lines.push(JSON.stringify([message, context]));
  };
  try {
    await work();
    return lines.join('\n');
  } finally {
    log.info = info;
  }
}

describe('the log of a registration', () => {
  // @shows AS-19.2, AS-19.4
  test('has a reason for a refusal, and no possible secret', async () => {
    const secret = 's'.repeat(43);
    const lines = await loggedDuring(async () => {
      await send(
        JSON.stringify({ redirect_uris: [`https://user:${secret}@app.example/?token=${secret}`] }),
      );
      await send(JSON.stringify({ redirect_uris: [LOOPBACK] }), {
        Authorization: `Bearer ${secret}`,
      });
    });
    expect(lines).toContain('https://…@app.example/?…');
    expect(lines).toContain('the initial access token is unknown');
    expect(lines).not.toContain(secret);
  });

  const SECRET = 's'.repeat(43);
  const ODD = `x\u{202E}y\u{2028}z ${SECRET} ${'long '.repeat(10_000)}`;

  // @shows AS-29.9
  test.each<[name: string, sent: object]>([
    ['client_name', { client_name: ODD }],
    ['scope', { scope: ODD }],
    ['grant_types', { grant_types: [ODD] }],
    ['response_types', { response_types: [ODD] }],
    ['application_type', { application_type: ODD }],
    ['redirect_uris', { redirect_uris: [ODD] }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: ODD }],
    ['id_token_signed_response_alg', { id_token_signed_response_alg: ODD }],
  ])('shows a %s only in part, without secrets and invisible characters', async (name, sent) => {
    const lines = await loggedDuring(async () => {
      const response = await send(JSON.stringify({ redirect_uris: [LOOPBACK], ...sent }));
      expect([name, response.status]).toEqual([name, 400]);
    });
    expect(lines).toContain('oauth_server_register');
    expect(lines).not.toContain(SECRET);
    expect(lines).not.toMatch(/[\u{202E}\u{2028}]/u);
    expect(lines.length).toBeLessThan(2000);
  });
});
