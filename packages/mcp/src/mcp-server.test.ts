import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from './configuration.ts';
import { McpContext } from './context.ts';
import {
  given,
  ISSUER,
  MAIN,
  OTHER,
  WITH_OTHER,
  type GivenEndpoint,
} from '../../../test/support/mcp-endpoint.ts';
import { createMcpServer } from './mcp-server.ts';
import { refusal } from './refusal.ts';

const contextOf = (values: GivenEndpoint = {}) => new McpContext(given(values).options);

describe('what the parts of an endpoint share', () => {
  test('is read from the server, unless the endpoint has other settings', () => {
    const { options } = given({});
    const context = new McpContext(options);
    expect(context).toMatchObject({
      ...options,
      log: { info: expect.any(Function) as unknown },
      path: '/mcp',
      resource: MAIN,
      api: { audience: MAIN },
      name: 'Shop',
      metadataPath: '/.well-known/oauth-protected-resource/base/mcp',
      meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Shop', version: '1.0.0' } },
    });
    expect(context.instructions).toEqual({});
    expect(context.routeName('a')).toBe('a');
    expect(context.siblings).toBe(new McpContext(options).siblings);
    const named = contextOf({ mcp: { name: 'Kitchen', instructions: 'Cook.', version: '2' } });
    expect([named.name, named.meta, named.instructions]).toEqual([
      'Kitchen',
      { 'io.modelcontextprotocol/serverInfo': { name: 'Kitchen', version: '2' } },
      { instructions: 'Cook.' },
    ]);
    expect(contextOf({ mcp: { instructions: '' } }).instructions).toEqual({});
  });

  test('is different for an additional endpoint', () => {
    const context = contextOf(WITH_OTHER);
    expect([context.resource, context.metadataPath, context.routeName('a')]).toEqual([
      OTHER,
      '/.well-known/oauth-protected-resource/base/kitchen/mcp',
      'a_kitchen_mcp',
    ]);
  });

  test.each([
    [[{ resource: MAIN, challenge: true }], {}, true],
    [
      [
        { resource: MAIN, challenge: false },
        { resource: OTHER, challenge: true },
      ],
      {},
      false,
    ],
    [[], {}, false],
    [[], { oauth: { challenge: true } }, true],
  ])(
    'contains whether it challenges, with the resources %j and mcp %j: %s',
    (resources, mcp, is) => {
      const { config, challenges } = contextOf({ mcp, server: { resources } });
      expect(config.oauth).toEqual({ ...mcpConfiguration.parse({}).oauth, challenge: is });
      const document = 'https://shop.example/.well-known/oauth-protected-resource/base/mcp';
      const challenge = `Bearer resource_metadata="${document}", scope="mcp:tools"`;
      expect(challenges.ofResource('missing_token', null)).toEqual(
        is ? { 'WWW-Authenticate': challenge } : {},
      );
    },
  );

  test('exists only if the server issues tokens for the resource', () => {
    for (const server of [{}, { audience: 'x', resources: [{ resource: MAIN }] }])
      expect(contextOf({ server }).resource).toBe(MAIN);
    const main = `oauth_server:audience: must be the MCP resource: ${MAIN}`;
    const added = (resource: string, path: string) =>
      `oauth_server:resources: does not contain ${resource}, the resource of the MCP endpoint ` +
      `${path}; add it`;
    for (const [values, message] of [
      [{ server: { audience: 'x' } }, main],
      [{ server: { audience: 'x', resources: [{ resource: OTHER }] } }, added(MAIN, '/mcp')],
      [{ path: '/kitchen/mcp' }, added(OTHER, '/kitchen/mcp')],
    ] as const)
      expect(() => contextOf(values)).toThrow(message);
  });
});

describe('an endpoint that fails', () => {
  const answerOf = async (exception: Error) => {
    const { options, told } = given({});
    const request = new Request(MAIN, { headers: { 'X-Request-Id': 'r1' } });
    const answer = await new McpContext(options).withToken(request, async () => {
      throw exception;
    });
    expect(told).toEqual([
      ['error', 'The MCP endpoint failed: {exception}', { requestId: 'r1', exception }],
    ]);
    const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
    return [answer.status, answer.headers.get('retry-after'), error.message];
  };

  test('asks the caller to try again only if the database cannot be reached', async () => {
    const unreachable = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    expect(await answerOf(unreachable)).toEqual([
      503,
      '2',
      'The server cannot answer now; try again.',
    ]);
    expect(await answerOf(new Error('no'))).toEqual([500, null, 'The server failed to answer.']);
  });

  test('passes on every answer of its work', async () => {
    const answer = new Response('yes');
    expect(await contextOf().withToken(new Request(MAIN), async () => answer)).toBe(answer);
  });
});

describe('the line in the log about a refusal', () => {
  const request = new Request(MAIN, { headers: { 'X-Request-Id': 'r1' } });
  const linesOf = (values: GivenEndpoint, response: Response, client: string | null = 'c1') => {
    const { options, told } = given(values);
    new McpContext(options).logRefusal('mcp_server_rpc', request, response, client);
    return told;
  };

  test('names the endpoint, the reason and the caller', () => {
    const line = {
      endpoint: 'mcp_server_rpc',
      requestId: 'r1',
      error: 403,
      detail: 'Not here.',
      clientId: 'c1',
      address: '192.0.2.7',
    };
    const text = '{endpoint} refused: {error} ({detail})';
    expect(linesOf({}, refusal(403, 'Not here.'))).toEqual([['info', text, line]]);
    expect(linesOf(WITH_OTHER, refusal(403, 'Not here.'), null)).toEqual([
      ['info', text, { ...line, endpoint: 'mcp_server_rpc_kitchen_mcp', clientId: null }],
    ]);
    const host = {
      clientAddress() {
        throw new Error('The proxy is unknown');
      },
    };
    expect(linesOf({ server: { host } }, refusal(403, 'Not here.'))).toEqual([
      ['info', text, { ...line, address: null }],
    ]);
  });

  test('is missing for an answer that is no refusal, or if the caller is gone', () => {
    expect(linesOf({}, new Response('yes'))).toEqual([]);
    expect(linesOf({}, refusal(499, 'The caller is gone.'))).toEqual([]);
  });

  test('is counted', () => {
    const counted: unknown[] = [];
    const measuring = { refusedWith: (...values: unknown[]) => void counted.push(values) };
    linesOf({ server: { measuring } }, refusal(403, 'Not here.'));
    linesOf({ server: { measuring } }, refusal(499, 'The caller is gone.'));
    expect(counted).toEqual([['mcp_server_rpc', 403]]);
  });
});

describe('a created endpoint', () => {
  const documentOf = async (values: GivenEndpoint) => {
    const { endpoints } = createMcpServer(given(values).options);
    const found = endpoints.find(({ name }) => name.startsWith('mcp_server_resource_metadata'));
    const answer = await found?.handle(new Request(MAIN));
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*');
    return [answer?.headers.get('cache-control'), await answer?.json()];
  };
  const DOCUMENT = {
    resource: MAIN,
    authorization_servers: [ISSUER],
    scopes_supported: ['mcp:tools'],
    bearer_methods_supported: ['header'],
    resource_name: 'Shop',
  };

  test('has its members from its options', () => {
    const { options } = given({});
    const { tools, config } = options;
    const orders = {
      name: () => 'orders',
      description: () => 'Lists orders',
      inputSchema: () => ({ type: 'object' }),
      personal: true,
      scope: () => 'mcp:tools',
      handle: () => '',
    };
    tools.register(orders);
    const endpoint = createMcpServer(options);
    expect(endpoint).toMatchObject({ resource: MAIN, path: '/mcp', config });
    expect(endpoint.tools).toBe(tools);
    expect([...endpoint.registries.keys()]).toEqual(['resources']);
    expect(endpoint.guarded()).toEqual([
      { called: 'the tool orders', personal: true, scope: 'mcp:tools' },
    ]);
    expect(() => createMcpServer(options)).toThrow('is already the path of an MCP endpoint');
  });

  test('adds routes below the path where the server is mounted', () => {
    const routes = createMcpServer(given({}).options).endpoints;
    const listed = routes.map((route) => JSON.parse(JSON.stringify(route)) as unknown);
    const methods = ['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'];
    const document = '/.well-known/oauth-protected-resource/base';
    expect(listed).toEqual([
      { name: 'mcp_server_rpc', path: '/mounted/mcp', methods: ['POST', 'OPTIONS'] },
      {
        name: 'mcp_server_stream',
        path: '/mounted/mcp',
        methods: ['GET', 'DELETE', 'PUT', 'PATCH'],
        refusesMethods: true,
      },
      { name: 'mcp_server_misplaced', path: '/mounted/mcp/', methods },
      { name: 'mcp_server_misplaced_twice', path: '/mounted/mcp//', methods },
      {
        name: 'mcp_server_resource_metadata',
        path: `${document}/mcp`,
        methods: ['GET', 'OPTIONS'],
      },
      {
        name: 'mcp_server_resource_metadata_root',
        path: document,
        methods: ['GET', 'OPTIONS'],
      },
    ]);
  });

  test('adds no route that the server has, and no second root for its metadata', () => {
    const path = '/.well-known/oauth-protected-resource/base/mcp';
    const main = createMcpServer(given({ server: { endpoints: [{ path }] } }).options);
    const names = ({ endpoints }: typeof main) => endpoints.map(({ name }) => name).slice(4);
    expect(names(main)).toEqual(['mcp_server_resource_metadata_root']);
    const other = createMcpServer(given(WITH_OTHER).options);
    expect(names(other)).toEqual(['mcp_server_resource_metadata_kitchen_mcp']);
  });

  test('answers each route with the id of the request', async () => {
    const { endpoints } = createMcpServer(given({}).options);
    const headers = { 'X-Request-Id': 'r1' };
    const statuses: number[] = [];
    for (const { handle, methods } of endpoints) {
      const [method = ''] = methods;
      const answer = await handle(new Request(MAIN, { method, headers }));
      statuses.push(answer.status);
      expect(answer.headers.get('x-request-id')).toBe('r1');
      const preflight = await handle(new Request(MAIN, { method: 'OPTIONS' }));
      statuses.push(preflight.status);
    }
    expect(statuses).toEqual([500, 204, 405, 405, 404, 204, 404, 204, 200, 204, 200, 204]);
  });

  test('measures each route', async () => {
    const measured: unknown[] = [];
    const measuring = {
      endpoint(task: unknown, request: Request, work: () => Promise<Response>) {
        measured.push(task, request);
        return work();
      },
      refusedWith: () => {},
    };
    const { endpoints } = createMcpServer(given({ server: { measuring } }).options);
    const request = new Request(MAIN);
    const stream = endpoints.find(({ name }) => name === 'mcp_server_stream');
    expect((await stream?.handle(request))?.status).toBe(405);
    const task = { kind: 'endpoint', name: 'mcp_server_stream', route: '/mounted/mcp' };
    expect(measured).toEqual([task, request]);
  });

  test('publishes what clients need', async () => {
    expect(await documentOf({})).toEqual(['public, max-age=60', DOCUMENT]);
    const { scopes_supported: _, ...unlisted } = DOCUMENT;
    const service = { oauth: { scopes_supported: ['mcp:service'] } };
    expect(await documentOf({ mcp: service, server: { admitsUnverified: true } })).toEqual([
      'public, max-age=60',
      unlisted,
    ]);
    const binding = { metadata: { dpop_signing_alg_values_supported: ['ES256'] } };
    expect(await documentOf({ server: { binding } })).toEqual([
      'public, max-age=60',
      { ...DOCUMENT, ...binding.metadata },
    ]);
  });

  test.each<readonly [GivenEndpoint, object]>([
    [{}, { metadata: DOCUMENT }],
    [{ mcp: { oauth: { challenge: true } } }, { metadata: DOCUMENT, stepUp: true }],
    [
      { mcp: { oauth: { narrow_service_scope: true } } },
      { metadata: DOCUMENT, serviceScope: 'mcp:service' },
    ],
    [WITH_OTHER, {}],
  ])('with %j tells the server about its resource', (values, expected) => {
    const { options, told } = given(values);
    createMcpServer(options);
    expect(told).toEqual([['serves', expected]]);
  });

  test('requires that its resource has each of its scopes', () => {
    const mcp = { oauth: { scopes_supported: ['a', 'mcp:tools', 'b'] } };
    const server = { resources: [{ resource: MAIN }] };
    expect(() => createMcpServer(given({ mcp, server }).options)).toThrow(
      new RegExp(
        ['a', 'b']
          .map(
            (scope) =>
              `mcp:oauth:scopes_supported: contains ${scope}, which is not a scope of ${MAIN} in ` +
              'oauth_server:resources',
          )
          .join('[^]*'),
      ),
    );
    const { options } = given({ mcp, server, offers: ['a', 'mcp:tools', 'b'] });
    expect(createMcpServer(options).resource).toBe(MAIN);
    // Without several resources, the configuration requires the scopes.
    expect(createMcpServer(given({ mcp }).options).resource).toBe(MAIN);
  });
});
