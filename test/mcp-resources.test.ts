// @engines sqlite: the database makes no difference
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  content,
  createToolRegistry,
  mcpServerOf,
  resource,
  resourcesOf,
  type ResourceInterface,
  type ScopedResourceInterface,
  type ToolInterface,
  type UserResourceInterface,
} from '@portico/mcp';
import { AUDIT, token, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant, type RunningAssistant } from './support/assistant.ts';

const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;
const STATELESS = '2026-07-28';
const OLDER = VERSIONS.filter((version) => version !== STATELESS);
const MEBIBYTE = 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/** The signals of the reads that never end. */
const slow: AbortSignal[] = [];
/** The URIs of the resources that were read. */
const reads: string[] = [];

function at(
  uri: string,
  read: ResourceInterface['read'],
  more: Partial<ScopedResourceInterface> = {},
): ResourceInterface {
  const counted: ResourceInterface['read'] = (request) => {
    reads.push(uri);
    return read(request);
  };
  return { uri: () => uri, name: () => uri.replace('app://', ''), read: counted, ...more };
}

const mine: UserResourceInterface = {
  ...at('app://mine', () => `of ${token().user()?.getProfile().name ?? 'unknown'}`),
  personal: true,
};
const orders: ScopedResourceInterface = {
  ...at('app://orders', () => 'the orders'),
  personal: true,
  scope: () => 'mcp:orders',
};
/** A resource with only a scope, and no other information. */
const unmarked = at('app://unmarked', () => 'a secret', { scope: () => 'mcp:orders' });

const RESOURCES: readonly ResourceInterface[] = [
  at('app://guide', () => 'How to cook.', {
    title: () => 'The guide',
    description: () => 'How to use the kitchen',
    mimeType: () => 'text/markdown; charset=utf-8',
  }),
  at('app://picture', () => new Uint8Array([0, 255, 128]), { mimeType: () => 'image/png' }),
  mine,
  orders,
  unmarked,
  at('app://broken', () => {
    throw new Error('the cellar is flooded');
  }),
  at('app://rejecting', () => Promise.reject(new Error('the cellar is flooded'))),
  at('app://object', () => ({ secret: 1 }) as never),
  at('app://nothing', () => undefined as never),
  at('app://full', () => 'x'.repeat(MEBIBYTE)),
  at('app://long', () => 'x'.repeat(MEBIBYTE + 1)),
  at('app://wide', () => 'ä'.repeat(MEBIBYTE / 2 + 1)),
  at('app://large', () => new Uint8Array(MEBIBYTE + 1)),
  at('app://half', () => `half \uD800 pair`),
  at('app://slow', ({ signal }) => {
    slow.push(signal);
    return new Promise(() => {});
  }),
];

const linking: ToolInterface = {
  name: () => 'linking',
  description: () => 'Refers to the guide',
  inputSchema: () => ({ type: 'object' }),
  handle: () => content([{ type: 'resource_link', uri: 'app://guide', name: 'guide' }]),
};

let assistant: RunningAssistant;
let plain: RunningAssistant;
let service: string;
let linked: string;
let logFile: string;
const events: AuditEvent[] = [];

const OFFERED = { oauth_server: { scopes: { 'mcp:orders': 'See your orders' } } };

beforeAll(async () => {
  const mcp = {
    protocol_versions: VERSIONS,
    audit: true,
    tool_timeout: 1,
    oauth: { challenge: true },
  };
  assistant = await startAssistant({
    tools: [linking],
    resources: RESOURCES,
    config: { ...OFFERED, mcp },
  });
  plain = await startAssistant({ config: { mcp: { protocol_versions: VERSIONS } } });
  assistant.application.events.on(AUDIT, (event) => void events.push(event));
  service = await assistant.serviceToken();
  linked = await assistant.linkedToken();
  logFile = (assistant.application.config['log'] as { path: string }).path;
});
afterAll(async () => {
  await assistant.close();
  await plain.close();
});

interface Sending {
  readonly version?: string;
  readonly bearer?: string | null;
  readonly at?: RunningAssistant;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly text: string;
  readonly id?: unknown;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

async function post(
  body: unknown,
  { version = '2025-11-25', ...sending }: Sending = {},
): Promise<Answer> {
  const { bearer = service, at: to = assistant, headers = {} } = sending;
  const response = await fetch(to.resource, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = (text === '' ? {} : JSON.parse(text)) as Omit<
    Answer,
    'status' | 'challenge' | 'text'
  >;
  const { status } = response;
  return { ...parsed, status, challenge: response.headers.get('www-authenticate'), text };
}

function send(method: string, params: Json = {}, sending: Sending = {}): Promise<Answer> {
  if (sending.version !== STATELESS)
    return post({ jsonrpc: '2.0', id: 7, method, params }, sending);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const uri = params['uri'];
  const headers = {
    'Mcp-Method': method,
    ...(typeof uri === 'string' ? { 'Mcp-Name': uri } : {}),
    ...sending.headers,
  };
  return post(
    { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } },
    { ...sending, headers },
  );
}

function contentOf(result: Json | undefined): Json | undefined {
  return (result?.['contents'] as readonly Json[] | undefined)?.[0];
}

const read = (uri: string, sending: Sending = {}) => send('resources/read', { uri }, sending);
const initialize = (version: string, sending: Sending = {}) =>
  send(
    'initialize',
    { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    sending,
  );

describe('an MCP server without a resource', () => {
  // @shows MCP-16.1
  test.each(VERSIONS)(
    'in %s, reports the methods as unknown, and no capability',
    async (version) => {
      const to = { at: plain, version, bearer: await plain.serviceToken() };
      for (const method of ['resources/list', 'resources/templates/list', 'resources/read']) {
        const { status, error } = await send(method, { uri: 'app://guide' }, to);
        expect([status, error]).toEqual([
          version === STATELESS ? 404 : 200,
          { code: -32_601, message: 'Method not found' },
        ]);
      }
      const { result } =
        version === STATELESS
          ? await send('server/discover', {}, to)
          : await initialize(version, to);
      expect(result?.['capabilities']).toEqual({ tools: {} });
    },
  );
});

describe('the list of MCP resources', () => {
  // @shows MCP-16.1, MCP-16.2
  test.each(VERSIONS)(
    'in %s, contains every resource for a service, with the members of the version',
    async (version) => {
      const { result } = await send('resources/list', {}, { version });
      const listed = result?.['resources'] as readonly Json[];
      expect(listed.map(({ uri }) => uri)).toEqual(RESOURCES.map((each) => each.uri()));
      expect(listed[0]).toEqual({
        uri: 'app://guide',
        name: 'guide',
        ...(version === '2025-03-26' ? {} : { title: 'The guide' }),
        description: 'How to use the kitchen',
        mimeType: 'text/markdown; charset=utf-8',
      });
      expect(listed[3]).toEqual({ uri: 'app://orders', name: 'orders' });
      for (const method of ['tools/list', 'resources/list', 'resources/templates/list'])
        expect((await send(method, { cursor: 'unknown' }, { version })).error?.code).toBe(-32_602);
      const templates = await send('resources/templates/list', {}, { version });
      expect(templates.result?.['resourceTemplates']).toEqual([]);
      const caching = version === STATELESS ? { ttlMs: 300_000, cacheScope: 'private' } : {};
      expect(templates.result).toMatchObject(caching);
      expect(Object.hasOwn(result ?? {}, 'ttlMs')).toBe(version === STATELESS);
      const told =
        version === STATELESS
          ? await send('server/discover', {}, { version })
          : await initialize(version);
      expect(told.result?.['capabilities']).toEqual({ tools: {}, resources: {} });
    },
  );

  test('cannot be subscribed to', async () => {
    const { error } = await send('resources/subscribe', { uri: 'app://guide' });
    expect(error?.code).toBe(-32_601);
  });
});

describe('reading an MCP resource', () => {
  // @shows MCP-16.3
  test.each(VERSIONS)('in %s, returns text and bytes', async (version) => {
    const text = await read('app://guide', { version });
    expect(text.status).toBe(200);
    expect(text.result?.['contents']).toEqual([
      { uri: 'app://guide', mimeType: 'text/markdown; charset=utf-8', text: 'How to cook.' },
    ]);
    expect(text.result?.['ttlMs']).toBe(version === STATELESS ? 0 : undefined);
    expect(text.result?.['resultType']).toBe(version === STATELESS ? 'complete' : undefined);
    const picture = await read('app://picture', { version });
    expect(picture.result?.['contents']).toEqual([
      { uri: 'app://picture', mimeType: 'image/png', blob: 'AP+A' },
    ]);
  });

  // @shows MCP-16.4
  test.each(VERSIONS)(
    'in %s, returns the error code of the version for an unknown URI',
    async (version) => {
      for (const uri of [
        'app://none',
        'APP://guide',
        'app://guide/',
        'app://guide#',
        'app://x/../guide',
        'app:%2F%2Fguide',
        ' app://guide',
        '__proto__',
        'constructor',
        '',
      ]) {
        const headers = {
          'Mcp-Name': uri === ' app://guide' ? '=?base64?IGFwcDovL2d1aWRl?=' : uri,
        };
        const { status, error } = await read(uri, { version, headers });
        expect([uri, status, error]).toEqual([
          uri,
          200,
          {
            code: version === STATELESS ? -32_602 : -32_002,
            message: 'No resource has this URI.',
            data: { uri },
          },
        ]);
      }
      for (const params of [{}, { uri: 7 }, { uri: ['app://guide'] }, { uri: null }]) {
        const { error } = await send('resources/read', params, { version });
        expect(error).toEqual({
          code: -32_602,
          message: 'The parameters are not those of resources/read.',
        });
      }
    },
  );

  test('in 2026-07-28, requires the same resource in the header', async () => {
    const before = reads.length;
    const { status, error } = await read('app://mine', {
      version: STATELESS,
      bearer: linked,
      headers: { 'Mcp-Name': 'app://guide' },
    });
    expect([status, error?.code, reads.length]).toEqual([400, -32_020, before]);
  });

  // @shows MCP-16.5
  test.each(['broken', 'rejecting', 'object', 'nothing', 'long', 'wide', 'large'])(
    'returns only that the resource cannot be read after a failure (%s)',
    async (name) => {
      const uri = `app://${name}`;
      for (const version of [STATELESS, '2025-11-25']) {
        const { status, error, text } = await read(uri, { version });
        expect([status, error]).toEqual([
          200,
          { code: -32_603, message: 'The resource cannot be read.' },
        ]);
        expect(text).not.toMatch(/cellar|secret|TypeError|bytes/);
      }
      const log = await readFile(logFile, 'utf8');
      expect(log).toContain(`The resource ${uri} failed: `);
    },
  );

  // @shows MCP-16.5
  test('returns up to 1 MiB, and replaces half a surrogate pair', async () => {
    const { result } = await read('app://full');
    expect(contentOf(result)?.['text']).toHaveLength(MEBIBYTE);
    const half = await read('app://half');
    expect(contentOf(half.result)?.['text']).toBe('half \uFFFD pair');
  });

  // @shows MCP-16.5
  test('returns at most 4 MiB per batch, also in the next batch', async () => {
    const asking = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'resources/read',
      params: { uri: 'app://full' },
    });
    for (let time = 0; time < 2; time += 1) {
      const { text } = await post([1, 2, 3, 4, 5, 6].map(asking), { version: '2025-03-26' });
      const answers = JSON.parse(text) as readonly Answer[];
      const [got, refused] = [
        answers.filter(({ result }) => result !== undefined),
        answers.flatMap(({ error }) => error ?? []),
      ];
      expect([got.length, refused.length]).toEqual([4, 2]);
      expect(refused[0]).toEqual({
        code: -32_603,
        message: 'The resources of this batch are too large together; read this one by itself.',
      });
    }
  });

  // @shows MCP-16.5
  test('is ended and logged if it takes too long', async () => {
    const { error } = await read('app://slow');
    expect(error).toEqual({ code: -32_603, message: 'The resource cannot be read.' });
    expect(await readFile(logFile, 'utf8')).toContain(
      'Reading the resource app://slow took longer than 1 second (mcp:tool_timeout)',
    );
    expect(slow.at(-1)?.aborted).toBe(true);
  });

  // @shows MCP-16.5
  test('gets a response if the request is cancelled, and logs no error', async () => {
    const reading = post(
      { jsonrpc: '2.0', id: 'mine', method: 'resources/read', params: { uri: 'app://slow' } },
      { bearer: linked },
    );
    const cancel = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'mine' },
    };
    while ((await Promise.race([reading, waiting()])) === null) {
      expect((await post(cancel, { bearer: linked })).status).toBe(202);
    }
    expect((await reading).error).toEqual({ code: -32_603, message: 'The request was cancelled.' });
  });
});

async function waiting(): Promise<null> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return null;
}

describe('access to an MCP resource', () => {
  /** The endpoint must reject the request before a resource is read. */
  async function expectRefused(
    answer: Promise<Answer>,
    status: number,
    challenge: string,
  ): Promise<void> {
    const before = reads.length;
    const refused = await answer;
    expect([refused.status, refused.result, reads.length]).toEqual([status, undefined, before]);
    expect(refused.challenge ?? 'no challenge').toContain(challenge);
    expect(refused.text).not.toContain('secret');
  }

  // @shows MCP-16.6
  test.each(VERSIONS)(
    'in %s, is 401 for a service if the resource is personal',
    async (version) => {
      for (const uri of ['app://mine', 'app://orders', 'app://unmarked']) {
        await expectRefused(read(uri, { version }), 401, 'error="invalid_token"');
      }
    },
  );

  // @shows MCP-16.6
  test.each(VERSIONS)(
    'in %s, requires a linked account, and is 403 without the scope',
    async (version) => {
      const { result } = await read('app://mine', { version, bearer: linked });
      expect(contentOf(result)?.['text']).toMatch(/^of (?!nobody)\w/);
      for (const uri of ['app://orders', 'app://unmarked']) {
        const refused = await read(uri, { version, bearer: linked });
        expect([refused.status, refused.result]).toEqual([403, undefined]);
      }
    },
  );

  // @shows MCP-16.6
  test('without a token or with a wrong one is 401, for every method', async () => {
    for (const bearer of [null, 'wrong']) {
      for (const uri of ['app://guide', 'app://mine', 'app://none']) {
        await expectRefused(read(uri, { bearer }), 401, 'resource_metadata=');
      }
      await expectRefused(send('resources/list', {}, { bearer }), 401, 'resource_metadata=');
    }
  });

  // @shows MCP-16.6
  test('is checked for every message of a batch', async () => {
    const asking = (uri: string, id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'resources/read',
      params: { uri },
    });
    const batch = [asking('app://guide', 1), asking('app://mine', 2)];
    await expectRefused(post(batch, { version: '2025-03-26' }), 401, 'error="invalid_token"');
    const calling = {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'linking', arguments: {} },
    };
    await expectRefused(
      post([calling, asking('app://orders', 1)], { version: '2025-03-26' }),
      401,
      'error="invalid_token"',
    );
  });

  // @shows MCP-16.6
  test('is challenged with the scope of the resource if the account can have it', async () => {
    const refused = await read('app://orders');
    expect(refused.challenge).toContain('scope="mcp:tools mcp:orders"');
  });

  test('is not given to a notification', async () => {
    const before = reads.length;
    const note = { jsonrpc: '2.0', method: 'resources/read', params: { uri: 'app://guide' } };
    expect([(await post(note)).status, reads.length]).toEqual([202, before]);
  });

  test('is not given to a page of a foreign origin', async () => {
    await expectRefused(
      read('app://guide', { headers: { Origin: 'https://evil.example' } }),
      403,
      'no challenge',
    );
  });
});

describe('registering an MCP resource', () => {
  const registry = () => resourcesOf(mcpServerOf(plain.application));
  const wrong = (more: object) => ({ ...at('app://x', () => 'x'), ...more });

  // @shows MCP-16.7
  test.each([
    [{ uri: () => 'guide' }, 'The uri() of a resource must return an absolute URI, not "guide"'],
    [
      { uri: () => 'app://a b' },
      'The uri() of a resource must return an absolute URI, not "app://a b"',
    ],
    [
      { uri: () => `app://${'x'.repeat(2048)}` },
      'The uri() of a resource must return an absolute URI',
    ],
    [{ uri: () => 7 }, 'The uri() of a resource must return an absolute URI, not 7'],
    [
      { name: () => '' },
      'The name() of the resource app://x must return a string that is not empty',
    ],
    [{ name: undefined }, 'The resource app://x has no name()'],
    [
      { title: () => 7 },
      'The title() of the resource app://x must return a string that is not empty',
    ],
    [
      { description: () => null },
      'The description() of the resource app://x must return a string that is not empty',
    ],
    [
      { mimeType: () => 'text\r\nx' },
      'The mimeType() of the resource app://x must return a media type',
    ],
    [
      { scope: 'mcp:orders' },
      'The scope of the resource app://x must be a method that returns the name of a scope',
    ],
    [
      { scope: undefined },
      'The scope of the resource app://x must be a method that returns the name of a scope',
    ],
    [
      { scope: null },
      'The scope of the resource app://x must be a method that returns the name of a scope',
    ],
    [
      { personal: 'yes' },
      'The resource app://x must have personal: true. To make it public, omit personal',
    ],
    [
      { personal: undefined },
      'The resource app://x must have personal: true. To make it public, omit personal',
    ],
  ])('refuses %j', (more, message) => {
    expect(() => registry().register(wrong(more))).toThrow(message);
    expect(registry().all()).toEqual([]);
  });

  // @shows MCP-16.7
  test.each([[undefined], [null], [''], ['two words'], [Promise.resolve('mcp:tools')], [false]])(
    'with a scope() that returns %j never publishes a tool or resource',
    async (scope) => {
      const late = await startAssistant({ config: OFFERED });
      try {
        const endpoint = mcpServerOf(late.application);
        resourcesOf(endpoint).register(wrong({ scope: () => scope }));
        endpoint.tools.register({ ...linking, scope: () => scope } as ToolInterface);
        const bearer = await late.linkedToken();
        const asking = { at: late, bearer: await late.serviceToken() };
        expect((await read('app://x', asking)).status).toBe(401);
        const calling = { name: 'linking', arguments: {} };
        expect((await send('tools/call', calling, asking)).status).toBe(401);
        // `token().can()` throws for a scope that is not configured.
        expect((await read('app://x', { at: late, bearer })).status).toBe(500);
        expect((await send('tools/call', calling, { at: late, bearer })).status).toBe(500);
        expect(reads).not.toContain('app://x');
      } finally {
        await late.close();
      }
    },
  );

  // @shows MCP-16.7
  test('with a scope that the server does not offer prevents the start', async () => {
    await expect(startAssistant({ resources: [orders] })).rejects.toThrow(
      'does not contain mcp:orders, which scope() of the resource app://orders requires',
    );
  });

  test('refuses two resources with one URI', async () => {
    const twice = [at('app://x', () => '1'), at('app://x', () => '2')];
    await expect(startAssistant({ resources: twice })).rejects.toThrow(
      'Two resources have the URI app://x',
    );
  });

  test('works only in register()', () => {
    expect(() => resource()).toThrow('resource() works only in register()');
  });

  // @shows MCP-16.1
  test('is separate for each endpoint', () => {
    expect(resourcesOf(mcpServerOf(assistant.application)).all()).toHaveLength(RESOURCES.length);
    expect(registry().all()).toEqual([]);
    expect(createToolRegistry().all()).toEqual([]);
  });
});

describe('limits and audit of MCP resources', () => {
  // @shows MCP-16.8
  test('mcp:audit records each read as an event, without the content', async () => {
    events.length = 0;
    const began = performance.now();
    await read('app://guide');
    await read('app://broken');
    await read('app://mine', { bearer: linked });
    await read('app://mine');
    await read('app://none');
    await send('resources/list');
    const told = events.filter(({ type }) => type === 'resource_read');
    expect(told).toEqual([
      {
        type: 'resource_read',
        resource: 'app://guide',
        clientId: assistant.service.id,
        person: null,
        outcome: 'succeeded',
        duration: expect.any(Number) as number,
      },
      expect.objectContaining({ resource: 'app://broken', outcome: 'failed' }),
      expect.objectContaining({
        resource: 'app://mine',
        clientId: assistant.linking.id,
        person: expect.objectContaining({ provider: expect.any(String) as string }) as unknown,
      }),
    ]);
    expect(JSON.stringify(told)).not.toContain('cook');
    const [{ duration }] = told as unknown as readonly [{ readonly duration: number }];
    expect(duration).toBeLessThanOrEqual(Math.ceil(performance.now() - began));
  });

  // @shows MCP-16.8
  test('mcp:calls_per_minute counts reads', async () => {
    const mcp = { calls_per_minute: 2 };
    const limited = await startAssistant({ resources: RESOURCES, config: { ...OFFERED, mcp } });
    try {
      const to = { at: limited, bearer: await limited.serviceToken() };
      const statuses = [];
      for (let time = 0; time < 3; time += 1) statuses.push((await read('app://guide', to)).status);
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe('the official MCP client', () => {
  // @shows MCP-5.8, MCP-16.1, MCP-16.3, MCP-16.4
  test.each([STATELESS, ...OLDER])(
    'in %s follows the resource link of a result, and reads the resource',
    async (version) => {
      const client = new Client(
        { name: 'official', version: '1' },
        version === STATELESS
          ? { versionNegotiation: { mode: { pin: STATELESS } } }
          : { supportedProtocolVersions: [version] },
      );
      const requestInit = { headers: { Authorization: `Bearer ${linked}` } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(assistant.resource), { requestInit }),
      );
      try {
        expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {} });
        const { resources } = await client.listResources();
        expect(resources).toHaveLength(RESOURCES.length);
        expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
        const result = await client.callTool({ name: 'linking', arguments: {} });
        expect(result.content).toEqual([
          version === '2025-03-26'
            ? { type: 'text', text: 'guide: app://guide' }
            : { type: 'resource_link', uri: 'app://guide', name: 'guide' },
        ]);
        const { contents } = await client.readResource({ uri: 'app://guide' });
        expect(contents).toEqual([
          { uri: 'app://guide', mimeType: 'text/markdown; charset=utf-8', text: 'How to cook.' },
        ]);
        const [picture] = (await client.readResource({ uri: 'app://picture' })).contents;
        expect(picture).toMatchObject({ blob: 'AP+A' });
        await expect(client.readResource({ uri: 'app://none' })).rejects.toMatchObject({
          data: { uri: 'app://none' },
        });
      } finally {
        await client.close();
      }
    },
  );
});
