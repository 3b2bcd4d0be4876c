// @engines sqlite: only the token endpoint writes, and its tests run on every engine
import { createServer } from 'node:http';
import { once } from 'node:events';
import { databaseAccounts } from '@portico/kit';
import type { ScopedToolInterface, UserToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basic, startAssistant, type RunningAssistant } from './support/assistant.ts';
import { launchChromium } from './support/chromium.ts';
import { describeWith } from './support/describe-with.ts';
import { ADA, REDIRECT_URI, type TestClient } from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * `mcp:oauth:challenge`: if the MCP endpoint rejects a request, the response contains what the
 * client needs (decision 38).
 */
let assistant: RunningAssistant;
/** An origin whose pages may call tools. */
let pages: string;
let closePages: () => Promise<void>;

/** The permission that cannot be looked up now, because its database is away. */
let away: string | null = null;
const REFUSED = { code: 'ECONNREFUSED', syscall: 'connect' };

const ofAccount = (name: string): UserToolInterface => ({
  name: () => name,
  description: () => `The tool ${name}`,
  inputSchema: () => ({ type: 'object' }),
  handle: () => name,
  personal: true,
});
const personal = (name: string, scope: string): ScopedToolInterface => ({
  ...ofAccount(name),
  scope: () => scope,
});

beforeAll(async () => {
  const port = await freePort();
  pages = `http://localhost:${port}`;
  const web = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<p>A page'),
  );
  web.listen(port, '127.0.0.1');
  await once(web, 'listening');
  closePages = async () => {
    web.closeAllConnections();
    web.close();
    await once(web, 'close');
  };
  assistant = await startAssistant({
    config: {
      oauth_server: { scopes: { 'mcp:orders': 'See your orders', 'mcp:pay': 'Pay for you' } },
      mcp: { oauth: { challenge: true, narrow_service_scope: true }, allowed_origins: [pages] },
    },
    accounts: (services) => {
      const own = databaseAccounts(services);
      return [
        {
          ...own,
          async holdsPermission(id, permission) {
            if (permission === away) throw Object.assign(new Error('refused'), REFUSED);
            return own.holdsPermission(id, permission);
          },
        },
      ];
    },
    tools: [
      personal('orders', 'mcp:orders'),
      personal('pay', 'mcp:pay'),
      personal('mine', 'mcp:tools'),
    ],
  });
  const ada = await assistant.accounts.findByEmail(ADA);
  for (const permission of ['mcp:orders', 'mcp:pay'])
    await assistant.accounts.grant(ada?.id ?? '', permission);
});
afterAll(async () => {
  await assistant.close();
  await closePages();
});

/** An application to which no person has given access. */
async function newHost(): Promise<TestClient> {
  const { client, secret } = await assistant.server.clients.create({
    name: 'A host',
    redirectUris: [REDIRECT_URI],
    scopes: ['mcp:tools', 'mcp:orders', 'mcp:pay'],
  });
  return { id: client.id, secret: secret ?? '' };
}

const message = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
});

function post(
  body: unknown,
  bearer: string | null,
  more: Readonly<Record<string, string>> = {},
  to: string = assistant.resource,
) {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
    ...more,
  };
  return fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });
}

const call = (tool: string, bearer: string | null) => post(message(tool), bearer);
const challengeOf = async (answer: Promise<Response>) => {
  const { status, headers } = await answer;
  return [status, headers.get('www-authenticate')];
};
const metadata = () =>
  `resource_metadata="${assistant.url}/.well-known/oauth-protected-resource/mcp"`;

describe('a 401 challenge of MCP', () => {
  // @shows MCP-8.20, RFC9728-5.1, RFC6750-3.1a
  test('without a token: has the metadata URL and the scopes, but no error, for every method', async () => {
    const expected = [401, `Bearer ${metadata()}, scope="mcp:tools"`];
    for (const tool of ['orders', 'mine', 'service_status', 'no_such_tool'])
      expect(await challengeOf(call(tool, null))).toEqual(expected);
    expect(await challengeOf(post('not a message', null))).toEqual(expected);
  });

  // @shows MCP-8.20, RFC6750-3.1b
  test.each(['x'.repeat(43), 'with spaces in it', '"'])(
    'with an invalid token (%j): contains invalid_token',
    async (bearer) => {
      expect(await challengeOf(call('orders', bearer))).toEqual([
        401,
        `Bearer error="invalid_token", ${metadata()}, scope="mcp:tools"`,
      ]);
    },
  );

  // @shows MCP-8.23
  test('has a different message for an expired token than for a missing one', async () => {
    const messageOf = async (bearer: string | null) =>
      ((await (await call('orders', bearer)).json()) as { error: { message: string } }).error
        .message;
    expect(await messageOf(null)).toBe('A bearer token for this resource is needed.');
    expect(await messageOf('x'.repeat(43))).toBe(
      'The bearer token is not valid here: unknown, expired or revoked.',
    );
  });

  // @shows MCP-8.20
  test('for a personal tool without an account: contains the scopes that its call needs', async () => {
    const service = await assistant.serviceToken();
    expect(await challengeOf(call('mine', service))).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata()}, scope="mcp:tools"`,
    ]);
    expect(await challengeOf(call('orders', service))).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata()}, scope="mcp:tools mcp:orders"`,
    ]);
  });
});

describe('a 403 challenge of MCP', () => {
  test('is a 503 if a permission cannot be looked up because the database is away', async () => {
    const token = await assistant.linkedToken('mcp:tools mcp:pay', await newHost());
    away = 'mcp:orders';
    try {
      const { status, headers } = await call('orders', token);
      expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    } finally {
      away = null;
    }
    expect((await call('orders', token)).status).toBe(403);
  });

  // @shows MCP-8.20, RFC6750-3.1c, RFC6750-3b
  test('contains all scopes that the call needs, and no other scope of the token', async () => {
    const token = await assistant.linkedToken('mcp:tools mcp:pay', await newHost());
    expect(await challengeOf(call('orders', token))).toEqual([
      403,
      `Bearer error="insufficient_scope", ${metadata()}, scope="mcp:tools mcp:orders"`,
    ]);
  });

  // @shows MCP-8.20
  test('contains the scopes of all tools if one body calls several', async () => {
    const token = await assistant.linkedToken();
    const body = ['pay', 'orders', 'service_status'].map((tool, id) => ({ ...message(tool), id }));
    const [status, challenge] = await challengeOf(
      post(body, token, { 'MCP-Protocol-Version': '2025-03-26' }),
    );
    expect([status, challenge]).toEqual([
      403,
      `Bearer error="insufficient_scope", ${metadata()}, scope="mcp:tools mcp:pay mcp:orders"`,
    ]);
  });

  // @shows MCP-8.23
  test.each([
    ['that the token has', 'mcp:tools mcp:pay', 'pay', [200, false]],
    ['that the token lacks as well', 'mcp:tools', 'pay', [403, true]],
    ['of the whole resource', 'mcp:tools', 'mine', [200, false]],
  ] as const)(
    'is not sent if the person lacks the permission for a scope %s, since no token would help',
    async (_, scope, tool, afterwards) => {
      const token = await assistant.linkedToken(scope, await newHost());
      const ada = (await assistant.accounts.findByEmail(ADA))?.id ?? '';
      const permission = tool === 'pay' ? 'mcp:pay' : 'mcp:tools';
      await assistant.accounts.deny(ada, permission);
      try {
        expect(await challengeOf(call(tool, token))).toEqual([403, null]);
        expect(await (await call(tool, token)).json()).toMatchObject({
          error: {
            message:
              'The account has no permission for this, and no other token would change that.',
          },
        });
      } finally {
        await assistant.accounts.grant(ada, permission);
      }
      const { status, headers } = await call(tool, token);
      expect([status, headers.has('www-authenticate')]).toEqual(afterwards);
    },
  );

  // @shows MCP-8.23
  test('is not sent for a body with several tools if the person lacks a permission for one of them', async () => {
    const token = await assistant.linkedToken('mcp:tools', await newHost());
    const ada = (await assistant.accounts.findByEmail(ADA))?.id ?? '';
    const body = [message('orders'), { ...message('pay'), id: 2 }];
    const both = () => challengeOf(post(body, token, { 'MCP-Protocol-Version': '2025-03-26' }));
    await assistant.accounts.deny(ada, 'mcp:pay');
    try {
      expect(await both()).toEqual([403, null]);
    } finally {
      await assistant.accounts.grant(ada, 'mcp:pay');
    }
    expect(await both()).toEqual([403, expect.stringContaining('insufficient_scope')]);
  });

  // @shows MCP-8.20
  test('contains the first scope of the resource for a personal tool without its own scope', async () => {
    const scopes = ['mcp:tools', 'mcp:orders'];
    const several = await startAssistant({
      config: {
        oauth_server: { scopes: { 'mcp:orders': 'See your orders' } },
        mcp: { oauth: { challenge: true, scopes_supported: scopes } },
        assistant: { user_scopes: scopes },
      },
      tools: [ofAccount('of_the_person')],
    });
    try {
      const ada = (await several.accounts.findByEmail(ADA))?.id ?? '';
      await several.accounts.grant(ada, 'mcp:orders');
      // Each token is of another client, because a client keeps the scopes that it has.
      const linked = async (scope: string) => {
        const { client, secret } = await several.server.clients.create({
          name: 'A host',
          redirectUris: [REDIRECT_URI],
          scopes: [...scopes, 'profile'],
        });
        return several.linkedToken(scope, { id: client.id, secret: secret ?? '' });
      };
      const none = await linked('profile');
      const first = await linked('mcp:tools');
      const second = await linked('mcp:orders');
      const answered = async (bearer: string) =>
        challengeOf(post(message('of_the_person'), bearer, {}, several.resource));
      expect(await answered(first)).toEqual([200, null]);
      expect(await answered(second)).toEqual([403, expect.stringContaining('scope="mcp:tools"')]);
      await several.accounts.deny(ada, 'mcp:orders');
      expect(await answered(none)).toEqual([
        403,
        expect.stringContaining('scope="mcp:tools mcp:orders"'),
      ]);
      await several.accounts.deny(ada, 'mcp:tools');
      expect(await answered(none)).toEqual([403, null]);
    } finally {
      await several.close();
    }
  });

  test('contains the scopes of the resource for a service that has none of them', async () => {
    const { client, secret } = await assistant.server.clients.create({
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: ['mcp:orders'],
    });
    const { access_token: bearer } = (await (
      await fetch(`${assistant.url}/oauth/token`, {
        method: 'POST',
        headers: { Authorization: basic({ id: client.id, secret: secret ?? '' }) },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
    ).json()) as { readonly access_token: string };
    const refused = await call('service_status', bearer);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", ${metadata()}, scope="mcp:tools"`,
    ]);
    expect(await refused.json()).toMatchObject({
      error: { message: 'The token has no scope of this resource.' },
    });
  });

  test('is not sent to a page of a foreign origin', async () => {
    const foreign = await post(message('orders'), null, { Origin: 'https://evil.example' });
    expect([foreign.status, foreign.headers.has('www-authenticate')]).toEqual([403, false]);
  });
});

describe('a client that follows the challenges of MCP', () => {
  const challengedScope = async (answer: Promise<Response>) =>
    /scope="([^"]*)"/.exec((await answer).headers.get('www-authenticate') ?? '')?.[1] ?? '';

  // @shows AS-8.18, MCP-8.20
  test('can call one tool after the other, and keeps all scopes, though it requests one at a time', async () => {
    const host = await newHost();
    let token = await assistant.linkedToken(await challengedScope(call('mine', null)), host);
    expect((await call('mine', token)).status).toBe(200);
    for (const tool of ['orders', 'pay']) {
      const refused = call(tool, token);
      expect((await refused).status).toBe(403);
      token = await assistant.linkedToken(await challengedScope(refused), host);
      expect((await call(tool, token)).status).toBe(200);
    }
    for (const tool of ['mine', 'orders', 'pay'])
      expect((await call(tool, token)).status).toBe(200);
  });
});

describe('mcp:oauth:narrow_service_scope', () => {
  const ask = async (client: TestClient, scope: string) => {
    const form = { grant_type: 'client_credentials', resource: assistant.resource, scope };
    const response = await fetch(`${assistant.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: basic(client) },
      body: new URLSearchParams(form),
    });
    const body = (await response.json()) as { readonly scope?: string; readonly error?: string };
    return body.scope ?? body.error;
  };
  const register = async (scopes: readonly string[]): Promise<TestClient> => {
    const { client, secret } = await assistant.server.clients.create({
      name: 'Robot',
      grants: ['client_credentials'],
      scopes: [...scopes],
    });
    return { id: client.id, secret: secret ?? '' };
  };

  // @shows MCP-10.8
  test.each([
    ['mcp:tools', 'mcp:service'],
    ['mcp:service mcp:tools', 'mcp:service'],
    ['mcp:tools mcp:orders mcp:pay', 'mcp:service'],
    ['openid profile email mcp:tools offline_access', 'mcp:service'],
    ['mcp:service', 'mcp:service'],
    ['', 'mcp:service'],
    ['mcp:tools nobody:knows', 'invalid_scope'],
    ['mcp:tools "', 'invalid_scope'],
  ])('gives a service that requests %j the scope %s', async (asked, granted) => {
    expect(await ask(assistant.service, asked)).toBe(granted);
  });

  // @shows MCP-10.8
  test('gives a service its other registered scopes only if it requests them', async () => {
    const robot = await register(['mcp:service', 'mcp:orders']);
    expect(await ask(robot, 'mcp:tools')).toBe('mcp:service');
    expect(await ask(robot, 'mcp:orders mcp:tools')).toBe('mcp:orders mcp:service');
    expect(await ask(robot, 'mcp:orders')).toBe('mcp:orders');
  });

  // @shows MCP-10.8
  test('does not affect a client that is not a service', async () => {
    const other = await register(['mcp:orders']);
    expect(await ask(other, 'mcp:tools')).toBe('invalid_scope');
    expect(await ask(other, 'mcp:orders mcp:service')).toBe('invalid_scope');
  });

  // @shows MCP-10.8, MCP-3.21
  test('if it is off, leads to invalid_scope', async () => {
    const usual = await startAssistant();
    try {
      const response = await fetch(`${usual.url}/oauth/token`, {
        method: 'POST',
        headers: { Authorization: basic(usual.service) },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'mcp:tools' }),
      });
      expect(await response.json()).toMatchObject({ error: 'invalid_scope' });
    } finally {
      await usual.close();
    }
  });
});

// @shows MCP-3.20, AS-6.24
test('with host API challenges too, the MCP resource metadata is the only one', async () => {
  const both = await startAssistant({
    config: { oauth_server: { challenge: true }, mcp: { oauth: { challenge: true } } },
  });
  try {
    for (const path of ['/mcp', '']) {
      const response = await fetch(`${both.url}/.well-known/oauth-protected-resource${path}`);
      expect(await response.json()).toEqual({
        resource: both.resource,
        authorization_servers: [both.url],
        scopes_supported: ['mcp:tools'],
        bearer_methods_supported: ['header'],
        resource_name: 'Kitchen',
      });
    }
  } finally {
    await both.close();
  }
});

describeWith('chromium')('a page of another origin, in Chromium', () => {
  // @shows MCP-8.20
  test('a page in a browser can read the challenge, the metadata that it links to, and the scopes', async () => {
    const token = await assistant.linkedToken();
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(pages);
      const read = await page.evaluate(
        async ({ resource, bearer, body }) => {
          const send = (authorization: Record<string, string>) =>
            fetch(resource, {
              method: 'POST',
              headers: {
                'Content-Type': 'application/json',
                Accept: 'application/json, text/event-stream',
                ...authorization,
              },
              body,
            });
          const bare = (await send({})).headers.get('www-authenticate') ?? '';
          const url = /resource_metadata="([^"]*)"/.exec(bare)?.[1] ?? '';
          const document = (await (await fetch(url)).json()) as { resource: string };
          const refused = await send({ Authorization: `Bearer ${bearer}` });
          return [bare, document.resource, refused.status, refused.headers.get('www-authenticate')];
        },
        { resource: assistant.resource, bearer: token, body: JSON.stringify(message('orders')) },
      );
      expect(read).toEqual([
        `Bearer ${metadata()}, scope="mcp:tools"`,
        assistant.resource,
        403,
        `Bearer error="insufficient_scope", ${metadata()}, scope="mcp:tools mcp:orders"`,
      ]);
    } finally {
      await browser.close();
    }
  });
});
