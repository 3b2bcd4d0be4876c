import type { Application, AuthorizationServer, ConfigMap } from 'portico';
import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from './configuration.ts';
import { given, MAIN, OTHER, type GivenEndpoint } from '../../../test/support/mcp-endpoint.ts';
import { resource } from './features/resources/index.ts';
import type { McpServer } from './mcp-endpoint.ts';
import { mcp, mcpServerOf, tool } from './plugin.ts';
import { registerAt } from './registering.ts';
import { routeEnding, Siblings } from './siblings.ts';

const CANONICAL = 'https://shop.example/mcp';

interface Given {
  readonly section?: object;
  readonly server?: object;
  readonly basePath?: string;
}

/** Returns the problems with a configuration that differs in these settings from a valid one. */
function problemsOf({ section = {}, server = {}, basePath = '' }: Given) {
  const config = {
    public_url: 'https://shop.example/ignored',
    base_path: basePath,
    mcp: mcpConfiguration.parse(section),
    oauth_server: { audience: CANONICAL, scopes: { 'mcp:tools': 'Tools' }, ...server },
  };
  return (mcp().problems?.(config as ConfigMap) ?? []).map(({ key, message }) =>
    [key, message].join(': '),
  );
}

describe('the configuration of the plugin', () => {
  const other = 'https://other.example/mcp';

  test.each<Given>([
    {},
    { section: { resource: CANONICAL } },
    { server: { audience: 'https://shop.example/api', resources: { [CANONICAL]: {} } } },
    { basePath: '/shop', server: { audience: 'https://shop.example/shop/mcp' } },
    { section: { security_schemes: true, oauth: { challenge: true } } },
    {
      section: { security_schemes: true },
      server: { resources: { [CANONICAL]: { challenge: true } } },
    },
    {
      section: { security_schemes: true, endpoints: { '/a': {} } },
      server: { resources: { 'https://shop.example/a': { challenge: true } } },
    },
  ])('has no problem: %j', (given) => {
    expect(problemsOf(given)).toEqual([]);
  });

  test.each<readonly [Given, string]>([
    [{ section: { resource: other } }, `mcp:resource: must be public_url plus /mcp: ${CANONICAL}`],
    [
      { section: { resource: other }, server: { audience: other } },
      `mcp:resource: must be public_url plus /mcp: ${CANONICAL}`,
    ],
    [
      {
        basePath: '/shop',
        section: { resource: CANONICAL },
        server: { audience: 'https://shop.example/shop/mcp' },
      },
      'mcp:resource: must be public_url plus base_path plus /mcp: https://shop.example/shop/mcp',
    ],
    [
      { server: { audience: other, resources: { [other]: {} } } },
      `oauth_server:audience: must be the MCP resource: ${CANONICAL}`,
    ],
    [
      { section: { resource: CANONICAL }, server: { audience: other } },
      `oauth_server:audience: must be the MCP resource: ${CANONICAL}`,
    ],
    [
      { section: { oauth: { scopes_supported: ['mcp:tools', 'toString'] } } },
      'mcp:oauth:scopes_supported: contains toString, which is not in oauth_server:scopes; add it there',
    ],
    [
      { section: { security_schemes: true } },
      'mcp:security_schemes: needs mcp:oauth:challenge to be true',
    ],
    [
      {
        section: { security_schemes: true },
        server: { resources: { [CANONICAL]: { challenge: false }, [other]: { challenge: true } } },
      },
      'mcp:security_schemes: needs mcp:oauth:challenge to be true',
    ],
  ])('has a problem: %j', (given, problem) => {
    expect(problemsOf(given)).toEqual([problem]);
  });

  test('has its own exemptions', () => {
    expect(mcp()).toMatchObject({
      name: 'mcp',
      defaults: {
        mcp: {},
        csrf_exempt_routes: {
          mcp_server_rpc: true,
          mcp_server_stream: true,
          mcp_server_misplaced: true,
          mcp_server_misplaced_twice: true,
        },
      },
      configuration: { mcp: mcpConfiguration },
      migrations: [],
      views: null,
    });
  });
});

describe('an endpoint', () => {
  const tools = {};
  const registry = {};
  const main = { tools, registries: new Map([['resources', registry]]) } as unknown as McpServer;
  const other = { tools: {} } as McpServer;

  test('is found only while the application registers its tools', () => {
    const endpoints = new Map([
      ['/mcp', main],
      ['/other', other],
    ]);
    registerAt(endpoints, () => {
      expect([tool(), tool('/other'), resource()]).toEqual([tools, other.tools, registry]);
      expect(tool()).toBe(tools);
      expect(() => tool('/none')).toThrow(
        "tool('/none'): no MCP endpoint has this path. The endpoints are /mcp, /other",
      );
    });
    expect(() => tool()).toThrow(
      'tool() works only in register() of an application with the plugin mcp(). Register tools there.',
    );
    expect(() => resource()).toThrow('Register resources there.');
  });

  test('of an application is found by its path', () => {
    const services = new Map<string, unknown>();
    const application = { services } as unknown as Application;
    expect(() => mcpServerOf(application)).toThrow('The application has no MCP server');
    services.set('mcp', main).set('mcp:/other', other);
    expect([mcpServerOf(application), mcpServerOf(application, '/other')]).toEqual([main, other]);
    expect(() => mcpServerOf(application, '/none')).toThrow(
      'The application has no MCP endpoint at /none; add it to mcp:endpoints',
    );
  });

  test('has a path that no other endpoint has', () => {
    const endpoints = [{ name: 'token', path: '/base/oauth/token' }];
    const clock = () => 0;
    const siblings = new Siblings({
      endpoints,
      mountPath: '/base',
      clock,
    } as unknown as AuthorizationServer);
    for (const path of ['/mcp', '/a-b', '/a/b2']) siblings.add(path);
    expect(() => siblings.add('/oauth/token')).toThrow(
      'is already the path of the endpoint token; choose another path',
    );
    expect(() => siblings.add('/mcp')).toThrow('is already the path of an MCP endpoint');
    expect(() => siblings.add('/a.b')).toThrow('differs from /a-b only in punctuation');
    expect(routeEnding('/a-b/.C1')).toBe('_a_b_C1');
    expect(siblings.limit(3)).toBe(siblings.limit(3));
    expect(siblings.limit(3)).not.toBe(siblings.limit(4));
    expect([siblings.limit(1).take('a', 1), siblings.limit(1).take('a', 1)]).toEqual([0, 60_000]);
  });
});

describe('an application that starts', () => {
  /** An application with an authorization server, whose MCP endpoints are created. */
  async function started({ mcp: section = {}, ...values }: GivenEndpoint = {}) {
    const { server, log } = given(values).options;
    const routes: ReturnType<typeof expect.anything>[] = [];
    const application = {
      config: { mcp: mcpConfiguration.parse(section) },
      services: new Map<string, unknown>([['oauth_server', server]]),
      log,
      route: (route: never) => void routes.push(route),
    } as unknown as Application;
    const plugin = mcp();
    await plugin.register?.(application);
    const register = async (each: () => void) => plugin.around?.(application, async () => each());
    return { application, routes, register };
  }
  const plain = (values: readonly unknown[]) => JSON.parse(JSON.stringify(values)) as unknown;
  const ENDPOINTS = { endpoints: { '/kitchen/mcp': { name: 'Kitchen' } } };
  const RESOURCES = { resources: [{ resource: MAIN }, { resource: OTHER }] };
  const orders = (more: object = {}) => ({
    name: () => 'orders',
    description: () => 'Lists orders',
    inputSchema: () => ({ type: 'object' }),
    handle: () => '',
    ...more,
  });
  const scoped = (scope: string) => orders({ personal: true, scope: () => scope });

  test('has an endpoint for each path, and their routes read no session', async () => {
    const { application, routes } = await started({ mcp: ENDPOINTS, server: RESOURCES });
    expect(mcpServerOf(application).resource).toBe(MAIN);
    const other = mcpServerOf(application, '/kitchen/mcp');
    expect([other.resource, other.config.name]).toEqual([OTHER, 'Kitchen']);
    expect(other.tools).not.toBe(mcpServerOf(application).tools);
    const added = [...mcpServerOf(application).endpoints, ...other.endpoints];
    expect(plain(routes)).toEqual(plain(added.map((each) => ({ ...each, readsNoSession: true }))));
    const stream = routes.find((route) => (route as { name: string }).name === 'mcp_server_stream');
    const { handler } = stream as { handler: (_: unknown, request: Request) => Promise<Response> };
    expect((await handler(null, new Request(MAIN))).status).toBe(405);
  });

  test('registers tools at each path', async () => {
    const { application, register } = await started({ mcp: ENDPOINTS, server: RESOURCES });
    await register(() => {
      tool().register(orders());
      tool('/kitchen/mcp').register(scoped('mcp:tools'));
      expect(() => resource('/none')).toThrow("resource('/none'): no MCP endpoint has this path");
    });
    for (const path of ['/mcp', '/kitchen/mcp'])
      expect(mcpServerOf(application, path).tools.all()).toHaveLength(1);
  });

  test.each<readonly [GivenEndpoint, string]>([
    [{}, 'oauth_server:scopes'],
    [{ server: RESOURCES }, 'oauth_server:scopes'],
    [
      { server: RESOURCES, serverOffers: ['mcp:tools', 'orders'] },
      `oauth_server:resources:${MAIN}:scopes`,
    ],
  ])('does not start if a tool requires a scope that is not offered: %j', async (values, key) => {
    const { register } = await started(values);
    const message = 'does not contain orders, which scope() of the tool orders requires; add it';
    await expect(register(() => tool().register(scoped('orders')))).rejects.toMatchObject({
      problems: [{ key, message }],
    });
  });

  test.each<GivenEndpoint>([
    { serverOffers: ['orders'] },
    { server: RESOURCES, offers: ['mcp:tools', 'orders'], serverOffers: [] },
  ])('starts if the scope of each tool is offered: %j', async (values) => {
    const { register } = await started(values);
    expect(await register(() => tool().register(scoped('orders')))).toBeUndefined();
  });

  test('requires that clients of 2026-07-28 can repeat an argument in a header', async () => {
    const amount = { type: 'object', 'x-mcp-header': 'Amount' };
    const wrong = orders({
      inputSchema: () => ({ type: 'object', properties: { amount } }),
    });
    const older = await started();
    expect(await older.register(() => tool().register(wrong))).toBeUndefined();
    const { register } = await started({ mcp: { protocol_versions: ['2026-07-28'] } });
    const starting = register(() => tool().register(wrong));
    await expect(starting).rejects.toThrow('The inputSchema() of the tool orders ');
    await expect(starting).rejects.toHaveProperty('cause', expect.any(Error));
  });
});
