// @engines sqlite: the database makes no difference
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addonManifest, assistant, examineAssistant, listingProblems } from '@portico/assistant';
import type { ToolInterface } from '@portico/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import kitchen from '../examples/assistant/app.ts';
import { countCharacters } from '../packages/assistant/src/listing.ts';
import {
  startAssistant,
  type AssistantOptions,
  type RunningAssistant,
} from './support/assistant.ts';
import { porticoHere, ROOT, type ConsoleResult } from './support/console.ts';
import { REDIRECT_URI } from './support/portal.ts';

const HOST = path.join(ROOT, 'examples', 'assistant');
const FAILING = path.join(ROOT, 'test', 'fixtures', 'failing-assistant', 'app.ts');
const CALLBACK = 'https://vendor.example/callback';
let folder: string;
let storage: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-assistant-console-'));
});
beforeEach(async () => {
  storage = await mkdtemp(path.join(folder, 'run-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ConsoleResult> {
  return porticoHere(args, { cwd: HOST, env: { STORAGE_DIR: storage, ...env } });
}

const LINKING = { ASSISTANT_REDIRECT_URI: CALLBACK };

interface Client {
  readonly role: string;
  readonly client_id: string;
  readonly client_secret: string | null;
  readonly state: string;
  readonly differences: readonly string[];
  readonly remedy: string | null;
}

async function setup(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{
  readonly code: number | null;
  readonly clients: readonly Client[];
  readonly stderr: string;
}> {
  const { code, stdout, stderr } = await run(['assistant:setup', '--json', ...args], env);
  const report = (stdout === '' ? { clients: [] } : JSON.parse(stdout)) as { clients: Client[] };
  return { code, clients: report.clients, stderr };
}

interface Registered {
  readonly client_id: string;
  readonly grant_types: readonly string[];
  readonly scope: string;
  readonly redirect_uris: readonly string[];
}

const registered = async () =>
  JSON.parse((await run(['oauth:client:list', '--json'])).stdout) as readonly Registered[];

describe('assistant:setup', () => {
  // @shows MCP-1.2, MCP-1.5, MCP-4.1, MCP-4.3, MCP-9.1
  test('registers the service client, prints id and secret once, and changes nothing if repeated', async () => {
    const first = await run(['assistant:setup', '--migrate']);
    expect(first.code, first.stderr).toBe(0);
    const [, id = ''] = /^service client id: +(\S+)$/m.exec(first.stdout) ?? [];
    const [, secret = ''] = /^service client secret: +(\S+)$/m.exec(first.stdout) ?? [];
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await registered()).toMatchObject([
      {
        client_id: id,
        grant_types: ['client_credentials'],
        scope: 'mcp:service',
        redirect_uris: [],
      },
    ]);
    const before = await registered();
    const second = await run(['assistant:setup']);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain(`service client ${id} matches the configuration.`);
    expect(second.stdout).not.toContain(secret);
    expect(await registered()).toEqual(before);
  });

  // @shows MCP-1.5, MCP-3.2, MCP-3.3, MCP-3.4, MCP-4.2, MCP-10.4
  test('registers both clients with account linking, each with only its own grants and scopes', async () => {
    const { code, clients } = await setup(['--migrate'], LINKING);
    expect(code).toBe(0);
    expect(clients.map(({ role, state }) => [role, state])).toEqual([
      ['service', 'registered'],
      ['account-linking', 'registered'],
    ]);
    expect(await registered()).toMatchObject([
      { grant_types: ['client_credentials'], scope: 'mcp:service' },
      {
        grant_types: ['authorization_code', 'refresh_token'],
        scope: 'mcp:tools',
        redirect_uris: [CALLBACK],
      },
    ]);
    const again = await setup([], LINKING);
    expect(again.clients.map(({ state, client_secret: secret }) => [state, secret])).toEqual([
      ['unchanged', null],
      ['unchanged', null],
    ]);
  });

  // @shows MCP-4.4
  test('reports a registration that differs and what to do, and does not change it', async () => {
    await setup(['--migrate'], LINKING);
    const before = await registered();
    const other = { ASSISTANT_REDIRECT_URI: 'https://vendor.example/other' };
    const { code, clients, stderr } = await setup([], other);
    expect(code).toBe(1);
    expect(stderr).toContain('was not changed');
    const linking = clients.find(({ role }) => role === 'account-linking');
    expect(linking).toMatchObject({ state: 'differs', client_secret: null });
    expect(linking?.differences.join()).toContain('redirect URIs');
    expect(linking?.remedy).toContain(`oauth:client:revoke ${linking?.client_id}`);
    expect(await registered()).toEqual(before);
    await run(['oauth:client:revoke', linking?.client_id ?? '']);
    const recreated = await setup([], other);
    expect(recreated.code).toBe(0);
    expect(recreated.clients.map(({ state }) => state)).toEqual(['unchanged', 'registered']);
  });

  // @shows MCP-4.5
  test('does not use a different client of an operator as the linking client', async () => {
    await run(['db:migrate', 'up']);
    const create = [
      'oauth:client:create',
      'Somebody else',
      `--redirect=${CALLBACK}`,
      '--scope=mcp:tools',
    ];
    expect(await run(create)).toMatchObject({ code: 0 });
    const [other] = await registered();
    const first = await setup([], LINKING);
    expect([first.code, ...first.clients.map(({ state }) => state)]).toEqual([
      0,
      'registered',
      'registered',
    ]);
    const again = await setup([], LINKING);
    expect(again.clients.map(({ state, client_id: id }) => [state, id])).toEqual(
      first.clients.map(({ client_id: id }) => ['unchanged', id]),
    );
    expect((await registered()).map(({ client_id: id }) => id)).toEqual([
      other?.client_id,
      ...first.clients.map(({ client_id: id }) => id),
    ]);
  });

  // @shows MCP-9.1
  test('explains how to apply the missing schema, and --migrate applies only that of the server', async () => {
    const { code, stderr } = await setup();
    expect(code).toBe(1);
    expect(stderr).toContain('--migrate');
    await setup(['--migrate']);
    const { stdout } = await run(['db:migrate', 'status', '--json']);
    const applied = (JSON.parse(stdout) as { name: string; appliedAt: string | null }[])
      .filter(({ appliedAt }) => appliedAt !== null)
      .map(({ name }) => name);
    expect(applied.length).toBeGreaterThan(0);
    expect(applied.filter((name) => !name.startsWith('oauth_server_'))).toEqual([]);
  });

  // @shows MCP-1.2, MCP-6.12, MCP-9.1, MCP-10.5, MCP-14.2
  test('writes the whole export without credentials with --manifest, and never over a file', async () => {
    const file = path.join(storage, 'addon.json');
    const { code, clients } = await setup(['--migrate', '--manifest', file], LINKING);
    expect(code).toBe(0);
    const text = await readFile(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      manifestVersion: '1.0',
      storeListing: {
        distributionCountries: ['US'],
        locales: {
          'en-US': {
            name: { value: 'Kitchen' },
            mediaAssets: { icons: { light: expect.anything() } },
          },
        },
      },
      integrations: [
        {
          type: 'MCP',
          config: { endpoints: { default: { type: 'HTTPS', uri: 'http://localhost:8082/mcp' } } },
        },
      ],
    });
    expect(text).toContain('"72x72"');
    expect(clients).toHaveLength(2);
    for (const { client_id: id, client_secret: secret } of clients) {
      expect(text).not.toContain(id);
      expect(text).not.toContain(secret);
    }
    await writeFile(file, 'mine');
    const again = await setup(['--manifest', file]);
    expect([again.code, again.stderr.includes('exists')]).toEqual([1, true]);
    expect(await readFile(file, 'utf8')).toBe('mine');
    const drafts = (await readdir(storage)).filter((name) => name.startsWith('.'));
    expect(drafts).toEqual([]);
  });

  test('prints the secrets with --json, even if a different process creates the file meanwhile', async () => {
    const file = path.join(storage, 'addon.json');
    // A link to a file that does not exist: it cannot be read, but its name is taken.
    await symlink('nowhere', file);
    const { code, clients, stderr } = await setup(['--migrate', '--manifest', file], LINKING);
    expect([code, stderr]).toEqual([1, `${file} already exists; choose another file name\n`]);
    expect(clients.map(({ state }) => state)).toEqual(['registered', 'registered']);
    for (const { client_secret: secret } of clients) expect(secret).toMatch(/\S{20}/);
  });

  // @shows MCP-9.6
  test.each([
    '/proc/self/fd/1',
    '/proc/nothing/addon.json',
    '/proc/self/fd/addon.json',
    '/sys/addon.json',
    '/dev/full',
    '/dev/null',
    '/dev/null/addon.json',
  ])('registers nothing if the manifest path is not a separate file: %s', async (file) => {
    await run(['db:migrate', 'up']);
    const { code, clients, stderr } = await setup(['--manifest', file]);
    expect([code, clients]).toEqual([1, []]);
    expect(stderr).toContain(`${file} `);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(await registered()).toEqual([]);
  });

  // @shows MCP-9.6
  test.each(['/proc/nothing/copy', '/proc/copy', '/proc/self/fd/1', '/sys/copy', '/dev/full'])(
    'a database backup cannot be written to such a path either: %s',
    async (file) => {
      const { code, stderr } = await run(['db:backup', file]);
      expect(code).toBe(1);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  test('registers nothing if the export fails', async () => {
    await run(['db:migrate', 'up']);
    const file = path.join(storage, 'addon.json');
    await writeFile(file, 'mine');
    expect((await setup(['--manifest', file])).code).toBe(1);
    expect((await setup(['--manifest', path.join(file, 'addon.json')])).code).toBe(1);
    expect(await registered()).toEqual([]);
  });
});

describe('the environment of an assistant', () => {
  test('belongs to a plugin that is named after its section', () => {
    expect(assistant()).toMatchObject({
      name: 'assistant',
      variables: { ASSISTANT_NAME: 'oauth_server:name', ASSISTANT_MCP_RESOURCE: 'mcp:resource' },
    });
  });

  // @shows MCP-2.3
  test('may contain a name of at most 90 characters', async () => {
    const named = (name: string) => startAssistant({ config: { oauth_server: { name } } });
    await (await named('x'.repeat(90))).close();
    await expect(named('x'.repeat(91))).rejects.toThrow(
      'has more than 90 characters; choose a shorter name (ASSISTANT_NAME or oauth_server:name)',
    );
  });

  test.each([
    // @shows MCP-2.2, MCP-3.10
    ['ASSISTANT_MCP_RESOURCE', 'http://localhost:8082/mcp/', 'mcp:resource'],
    ['ASSISTANT_MCP_RESOURCE', 'http://localhost:8082/mcp?x', 'mcp:resource'],
    ['ASSISTANT_MCP_RESOURCE', 'https://elsewhere.example/mcp', 'mcp:resource'],
    // @shows MCP-2.3
    ['ASSISTANT_NAME', 'x'.repeat(91), 'oauth_server:name'],
    // @shows MCP-3.3
    ['ASSISTANT_REDIRECT_URI', 'https://vendor.example/cb?state=x', 'assistant:redirect_uris:0'],
    // @shows MCP-2.1
    ['PUBLIC_URL', 'http://kitchen.example', 'public_url'],
    ['ASSISTANT_REDIRECT_URI', 'http://vendor.example/cb', 'assistant:redirect_uris:0'],
    ['ASSISTANT_REDIRECT_URI', 'https://*.vendor.example/cb', 'assistant:redirect_uris:0'],
    ['ASSISTANT_REDIRECT_URI', 'http://localhost:8082/cb', 'assistant:redirect_uris:0'],
  ])('reports %s=%s as an error that names %s', async (name, value, key) => {
    const { code, stderr } = await run(['assistant:setup'], { [name]: value });
    expect(code).toBe(1);
    expect(stderr).toContain(`${key}: `);
  });

  // @shows MCP-3.6
  test('may change the user scopes only to scopes that the resource offers', async () => {
    const config = { assistant: { user_scopes: ['mcp:other'] } };
    await expect(startAssistant({ config })).rejects.toThrow(
      'mcp:oauth:scopes_supported: must be the same as',
    );
    const service = { assistant: { user_scopes: ['mcp:service'] } };
    await expect(startAssistant({ config: service })).rejects.toThrow(
      'assistant:user_scopes: must not contain',
    );
    const both = {
      assistant: { user_scopes: ['kitchen:read'] },
      mcp: { oauth: { scopes_supported: ['kitchen:read'] } },
      oauth_server: { scopes: { 'kitchen:read': 'See the kitchen' } },
    };
    const started = await startAssistant({ config: both });
    await started.close();
    const split = {
      assistant: { user_scopes: ['kitchen:read', 'er'] },
      mcp: { oauth: { scopes_supported: ['kitchen:re', 'ader'] } },
      oauth_server: { scopes: { 'kitchen:re': 'Read', ader: 'Add' } },
    };
    await expect(startAssistant({ config: split })).rejects.toThrow(
      'mcp:oauth:scopes_supported: must be the same as assistant:user_scopes: kitchen:read, er',
    );
  });

  // @shows MCP-3.3
  test('must name a callback if account linking is on', async () => {
    const fixture = path.join(ROOT, 'test', 'fixtures', 'configured-assistant', 'app.ts');
    const linking = JSON.stringify({ assistant: { account_linking: true } });
    const { code, stderr } = await run(['--app', fixture, 'assistant:setup'], {
      ASSISTANT_CONFIG: linking,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('  assistant:redirect_uris: is empty, but assistant:account_linking');
  });

  // @shows MCP-9.6
  test.each([
    [
      { ASSISTANT_NAME: '' },
      [/^ {2}oauth_server:name: is missing; .* \(ASSISTANT_NAME is not set\)$/],
    ],
    [
      { ASSISTANT_MCP_RESOURCE: '' },
      [/^ {2}mcp:resource: is missing; set ASSISTANT_MCP_RESOURCE to /],
    ],
    [
      { ASSISTANT_NAME: '', ASSISTANT_MCP_RESOURCE: '' },
      [
        /^ {2}oauth_server:name: is missing; .* \(ASSISTANT_NAME is not set\)$/,
        /^ {2}mcp:resource: is missing; set ASSISTANT_MCP_RESOURCE$/,
      ],
    ],
  ])(
    'must have the name and the resource, and an error names what is missing: %j',
    async (env, lines) => {
      const { stderr } = await run(['assistant:setup'], env);
      expect(stderr.split('\n').filter((line) => /ASSISTANT_/.test(line))).toEqual(
        lines.map((line) => expect.stringMatching(line) as string),
      );
    },
  );
});

describe('assistant:doctor', () => {
  // @shows MCP-9.6
  test.each([
    [{ ASSISTANT_NAME: '' }, ['ASSISTANT_NAME']],
    [{ ASSISTANT_MCP_RESOURCE: '' }, ['ASSISTANT_MCP_RESOURCE']],
    [
      { ASSISTANT_NAME: '', ASSISTANT_MCP_RESOURCE: '' },
      ['ASSISTANT_NAME', 'ASSISTANT_MCP_RESOURCE'],
    ],
  ])('names the missing variables: %j', async (env, missing) => {
    for (const args of [
      ['assistant:doctor'],
      ['assistant:doctor', '--json'],
      ['assistant:setup'],
    ]) {
      const { code, stdout, stderr } = await run(args, env);
      expect(code).toBe(1);
      for (const name of missing) expect(stdout + stderr).toContain(name);
    }
  });

  // @shows MCP-1.2, MCP-9.2, MCP-9.3
  test('prints each check with what to do, and exits with 1 if one fails and 0 otherwise', async () => {
    const before = await run(['assistant:doctor', '--server-only']);
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(
      /^failing {2}OAuth tables .*\n.*→ run npx portico assistant:setup --migrate/m,
    );
    expect(before.stdout).toMatch(/^skipped {2}listing .*--server-only/m);
    await setup(['--migrate'], LINKING);
    const after = await run(['assistant:doctor', '--json'], LINKING);
    expect({ code: after.code, stderr: after.stderr }).toEqual({ code: 0, stderr: '' });
    const { checks } = JSON.parse(after.stdout) as { checks: { part: string; outcome: string }[] };
    expect(checks.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(checks.map(({ part }) => part)).toEqual(
      expect.arrayContaining([
        'service client',
        'account-linking client',
        'discovery',
        'tool scopes',
        'listing',
      ]),
    );
  });

  // @shows MCP-9.5
  test.each([
    ['a wrong configuration', { PUBLIC_URL: 'http://kitchen.example' }, 'configuration'],
    ['a wrong database URL', { DATABASE_URL: 'nonsense' }, 'configuration'],
    ['an unreachable database', { DATABASE_URL: 'postgres://127.0.0.1:1/none' }, 'OAuth tables'],
    ['a store that cannot be opened', { STORAGE_DIR: '/dev/null' }, null],
    ['a fault of the application', {}, 'application', ['--app', FAILING]],
  ])('prints JSON with --json even with %s', async (_, env, part, app: readonly string[] = []) => {
    const { code, stdout } = await run([...app, 'assistant:doctor', '--json'], env);
    const report = JSON.parse(stdout) as {
      healthy: boolean;
      checks: { part: string; outcome: string }[];
    };
    expect([code, report.healthy]).toEqual([1, false]);
    const failing = report.checks
      .filter(({ outcome }) => outcome === 'failing')
      .map((check) => check.part);
    expect(failing).toContain(part ?? failing[0]);
  });

  // @shows MCP-9.5
  test.each([
    ['that does not exist', null],
    ['that throws', "throw new Error('the oven has no door')"],
    ['that is not an application', 'export default 7;'],
    [
      'with a function in place of a plugin',
      'export default { directory: ".", plugins: [() => 1] };',
    ],
  ])(
    'prints JSON with --json for an app.ts %s, and the reason on standard error',
    async (_, text) => {
      if (text !== null) await writeFile(path.join(storage, 'app.ts'), text);
      const { code, stdout, stderr } = await porticoHere(['assistant:doctor', '--json'], {
        cwd: storage,
      });
      expect([code, JSON.parse(stdout)]).toMatchObject([
        1,
        { healthy: false, checks: [{ part: 'application', outcome: 'failing' }] },
      ]);
      expect(stderr).toContain(
        (JSON.parse(stdout) as { checks: { detail: string }[] }).checks[0]?.detail,
      );
    },
  );

  test('prints an error in the application in full beside the JSON', async () => {
    const { stdout, stderr } = await run(['--app', FAILING, 'assistant:doctor', '--json']);
    expect(stdout).toContain('the oven has no door');
    expect(stderr).toMatch(/failing-assistant\/app\.ts:\d+/);
  });

  async function finding(
    part: string,
    options: AssistantOptions,
    serverOnly = true,
    prepare: (assistant: RunningAssistant) => Promise<unknown> = async () => {},
  ) {
    const assistant = await startAssistant(options);
    try {
      await prepare(assistant);
      const { checks } = await examineAssistant(assistant.application, { serverOnly });
      return checks.filter((check) => check.part === part);
    } finally {
      await assistant.close();
    }
  }

  /** The findings if the application's answers at some paths are changed. */
  async function findingWhere(
    part: string,
    at: string,
    change: (right: Response) => Promise<Response>,
  ) {
    const assistant = await startAssistant();
    try {
      const { application } = assistant;
      const fetchChanged: typeof application.fetch = async (request, ...more) => {
        const response = await application.fetch(request, ...more);
        return request.url.includes(at) ? change(response) : response;
      };
      const { checks } = await examineAssistant(
        { ...application, fetch: fetchChanged },
        { serverOnly: true },
      );
      return checks.filter((check) => check.part === part);
    } finally {
      await assistant.close();
    }
  }

  test('fails if csrf_exempt_routes:mcp_server_rpc is disabled', async () => {
    const config = { csrf_exempt_routes: { mcp_server_rpc: false } };
    expect(await finding('csrf_exempt_routes', { config })).toMatchObject([{ outcome: 'failing' }]);
    expect(await finding('authentication', { config })).toMatchObject([
      { outcome: 'failing', detail: expect.stringContaining('403') },
    ]);
  });

  // @shows MCP-3.20
  test('warns about a challenge, because the toolkit of the vendor does not accept one', async () => {
    const config = { mcp: { oauth: { challenge: true } } };
    expect(await finding('authentication', { config })).toMatchObject([
      { outcome: 'warning', remedy: expect.stringContaining('mcp:oauth:challenge') },
    ]);
  });

  // @shows MCP-9.3
  test('fails if discovery is missing', async () => {
    const config = { oauth_server: { routes: false } };
    expect(await finding('discovery', { config })).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'ok' },
      {
        outcome: 'failing',
        detail: expect.stringContaining('/.well-known/oauth-authorization-server'),
      },
    ]);
  });

  // @shows MCP-9.3
  test.each([
    ['another resource', { resource: 'https://other.example/mcp' }],
    ['another authorization server', { authorization_servers: ['https://other.example'] }],
  ])('fails if discovery names %s', async (_, wrong) => {
    const found = await findingWhere('discovery', 'oauth-protected-resource', async (right) =>
      Response.json({ ...((await right.json()) as object), ...wrong }),
    );
    expect(found.map(({ outcome }) => outcome)).toEqual(['failing', 'failing', 'ok']);
  });

  // @shows MCP-9.3
  test.each([
    [
      'without refresh tokens',
      { grant_types_supported: ['client_credentials', 'authorization_code'] },
      'refresh_token',
    ],
    ['without the PKCE method S256', { code_challenge_methods_supported: ['plain'] }, 'S256'],
    ['of another issuer', { issuer: 'https://other.example' }, 'the issuer'],
  ])('fails for metadata of an authorization server %s', async (_, wrong, lacking) => {
    const found = await findingWhere('discovery', 'oauth-authorization-server', async (right) =>
      Response.json({ ...((await right.json()) as object), ...wrong }),
    );
    expect(found).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'ok' },
      {
        outcome: 'failing',
        detail: expect.stringMatching(new RegExp(`does not contain ${lacking}$`)) as string,
      },
    ]);
  });

  // @shows MCP-9.3
  test('fails for a discovery document with a status other than 200', async () => {
    const found = await findingWhere(
      'discovery',
      '/.well-known/',
      async ({ body }) => new Response(body, { status: 404 }),
    );
    expect(found.map(({ outcome }) => outcome)).toEqual(['failing', 'failing', 'failing']);
  });

  // @shows MCP-9.3
  test('fails for a challenge that was added elsewhere, such as by a proxy', async () => {
    const found = await findingWhere(
      'authentication',
      '/mcp',
      async ({ body, status }) =>
        new Response(body, { status, headers: { 'WWW-Authenticate': 'Bearer' } }),
    );
    expect(found).toMatchObject([
      {
        outcome: 'failing',
        detail:
          'a request without a token gets 401 with a WWW-Authenticate header instead of a plain 401',
      },
    ]);
  });

  test.each([
    [true, 'event streams'],
    [false, 'JSON'],
  ])('reports how responses are sent (streaming: %s)', async (streaming, mode) => {
    const [first] = await finding('configuration', {
      config: { mcp: { transport: { streaming } } },
    });
    expect(first?.detail).toMatch(new RegExp(`; it sends responses as ${mode}$`));
  });

  // @shows MCP-3.2, MCP-9.5
  test('fails if a linking client exists while account linking is disabled', async () => {
    const config = { assistant: { account_linking: false } };
    expect(await finding('account-linking client', { config })).toMatchObject([
      {
        outcome: 'failing',
        detail: expect.stringContaining('but assistant:account_linking is false'),
        remedy: expect.stringContaining('oauth:client:revoke'),
      },
    ]);
  });

  test('fails for more than one service client or linking client', async () => {
    const twice = ({ server }: RunningAssistant) =>
      Promise.all([
        server.clients.create({
          name: 'Again',
          grants: ['client_credentials'],
          scopes: ['mcp:service'],
        }),
        server.clients.create({
          name: 'Kitchen',
          redirectUris: [REDIRECT_URI],
          scopes: ['mcp:tools'],
        }),
      ]);
    for (const role of ['service client', 'account-linking client']) {
      expect(await finding(role, {}, true, twice)).toMatchObject([
        { outcome: 'ok' },
        {
          outcome: 'failing',
          detail: expect.stringContaining(
            'Another client has the same role, but only one of them should have it',
          ),
        },
      ]);
    }
  });

  // @shows MCP-4.5
  test('ignores a client that no operator registered, whatever its name', async () => {
    const config = { oauth_server: { registration: 'open' } };
    async function strangers({ url }: RunningAssistant): Promise<void> {
      const response = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ client_name: 'Kitchen', redirect_uris: [REDIRECT_URI] }),
      });
      expect(response.status).toBe(201);
    }
    const beside = await finding('account-linking client', { config }, true, strangers);
    expect(beside).toMatchObject([{ outcome: 'ok' }]);
    const instead = await finding('account-linking client', { config }, true, async (assistant) => {
      await assistant.server.clients.revoke(assistant.linking.id);
      await strangers(assistant);
    });
    expect(instead).toMatchObject([
      { outcome: 'failing', remedy: expect.stringContaining('assistant:setup') },
    ]);
    expect(await finding('other clients', { config }, true, strangers)).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringContaining('(Kitchen) is registered for the scope mcp:tools'),
      },
    ]);
  });

  // @shows MCP-9.5
  test('warns about every other client with a scope of the resource, until it is revoked', async () => {
    const prepare = async ({ server }: RunningAssistant) => {
      const redirectUris = [REDIRECT_URI];
      await server.clients.create({
        name: 'Editor',
        redirectUris,
        scopes: ['openid', 'mcp:tools'],
      });
      await server.clients.create({ name: 'Website', redirectUris, scopes: ['openid'] });
      const { client } = await server.clients.create({
        name: 'Old',
        redirectUris,
        scopes: ['mcp:tools'],
      });
      await server.clients.revoke(client.id);
    };
    expect(await finding('other clients', {}, true, prepare)).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringMatching(/\(Editor\) is registered for the scope mcp:tools$/),
      },
    ]);
  });

  const ordering = {
    name: () => 'order',
    description: () => 'Orders',
    inputSchema: () => ({ type: 'object' }),
    handle: () => null,
    personal: true,
    scope: () => 'kitchen:order',
  } as ToolInterface;
  const offering = { oauth_server: { scopes: { 'kitchen:order': 'Order for you' } } };

  // @shows MCP-9.5
  test('warns about every other client with the scope of a tool', async () => {
    const prepare = async ({ server }: RunningAssistant) => {
      const scopes = ['openid', 'kitchen:order'];
      await server.clients.create({ name: 'Editor', redirectUris: [REDIRECT_URI], scopes });
    };
    const options = { config: offering, tools: [ordering] };
    expect(await finding('other clients', options, true, prepare)).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringMatching(/\(Editor\) is registered for the scope kitchen:order$/),
      },
    ]);
  });

  // @shows MCP-3.4, MCP-9.3
  test('fails for a personal tool whose scope the linking client lacks', async () => {
    expect(await finding('tool scopes', { config: offering, tools: [ordering] })).toMatchObject([
      { outcome: 'failing', detail: 'order needs kitchen:order' },
    ]);
  });

  // @shows MCP-9.3
  test('counts the public and the personal tools', async () => {
    expect(await finding('tool scopes', {})).toMatchObject([
      { outcome: 'ok', detail: 'tools: 1 public (mcp:service), 1 personal' },
    ]);
  });

  test('warns about personal tools that no client can call', async () => {
    const config = { assistant: { account_linking: false } };
    expect(await finding('tool scopes', { config })).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'warning', detail: expect.stringContaining('my_account') },
    ]);
  });

  // @shows MCP-3.7, MCP-9.3
  test('reports the path of every problem in the listing', async () => {
    const config = {
      assistant: { listing: { shortDescription: '', name: { value: 'x'.repeat(31) } } },
    };
    const checks = await finding('listing', { config }, false);
    expect(checks.map(({ detail }) => detail)).toEqual([
      'assistant:listing:name:value',
      'assistant:listing:shortDescription',
    ]);
  });
});

// --- the listing
// ----------------------------------------------------------------------------------------------

type Map = Record<string, unknown>;

/** The example's valid listing with a change. */
function listingWith(change: (listing: Map) => void): Map {
  const config = (typeof kitchen.config === 'function' ? kitchen.config({}) : kitchen.config) as {
    assistant: { listing: Map };
  };
  const listing = structuredClone(config.assistant.listing);
  change(listing);
  return listing;
}

const mediaOf = (listing: Map) =>
  listing['mediaAssets'] as { icons: Map; carouselImages: Map[]; bannerImages?: unknown };
const iconsOf = (listing: Map) => mediaOf(listing).icons['light'] as Map[];
const problemsOf = (change: (listing: Map) => void) =>
  listingProblems(listingWith(change)).map(({ key }) => key.replace('assistant:listing', ''));

const FAMILY = '👨‍👩‍👧‍👦';
const ACCENTED = 'e\u0301';

describe('the listing', () => {
  // @shows MCP-6.11
  test('of the example is valid', () => {
    expect(problemsOf(() => {})).toEqual([]);
  });

  test.each<[string, string, number]>([
    // @shows MCP-6.1
    ['name:value', 'name', 30],
    // @shows MCP-6.2
    ['shortDescription', 'shortDescription', 123],
    // @shows MCP-6.3
    ['fullDescription', 'fullDescription', 4000],
  ])(
    'field %s has 1 to the maximum number of characters as people count them',
    (key, field, longest) => {
      const set = (text: unknown) => (listing: Map) => {
        listing[field] = field === 'name' ? { value: text } : text;
      };
      for (const letter of ['x', FAMILY, ACCENTED, '🇺🇸']) {
        expect(problemsOf(set(letter.repeat(longest)))).toEqual([]);
        expect(problemsOf(set(letter.repeat(longest + 1)))).toEqual([`:${key}`]);
      }
      for (const wrong of ['', '  ', null, 7, undefined])
        expect(problemsOf(set(wrong))).toEqual([`:${key}`]);
    },
  );

  // @shows MCP-6.13
  test('counts characters as people count them', () => {
    expect([FAMILY, ACCENTED, '🇺🇸', 'abc', ''].map(countCharacters)).toEqual([1, 1, 1, 3, 0]);
  });

  // @shows MCP-6.4
  test.each<[string, unknown, readonly string[]]>([
    ['two', ['a', 'b'], [':examplePhrases']],
    ['three', ['a', 'b', 'c'], []],
    ['four', ['a', 'b', 'c', 'd'], []],
    ['five', ['a', 'b', 'c', 'd', 'e'], [':examplePhrases']],
    ['an empty phrase', ['a', ' ', 'c'], [':examplePhrases:1']],
    ['a phrase of 200 characters', ['a', FAMILY.repeat(200), 'c'], []],
    ['a phrase of 201 characters', ['a', 'b', 'x'.repeat(201)], [':examplePhrases:2']],
    ['a text in place of a list', 'a, b, c', [':examplePhrases']],
  ])(
    'field examplePhrases must have three or four phrases of up to 200 characters: %s',
    (_, phrases, problems) => {
      expect(problemsOf((listing) => (listing['examplePhrases'] = phrases))).toEqual(problems);
    },
  );

  // @shows MCP-6.5
  test.each(['privacyPolicyUrl', 'termsOfUseUrl'])(
    'field privacyAndCompliance:%s must be a valid https URL',
    (name) => {
      const set = (value: unknown) => (listing: Map) => {
        (listing['privacyAndCompliance'] as Map)[name] = value;
      };
      expect(problemsOf(set('HTTPS://Kitchen.example:8443/privacy?x#y'))).toEqual([]);
      for (const wrong of [
        'http://kitchen.example/',
        'https://',
        'https:// x',
        'https:kitchen.example',
        'https:\\\\kitchen.example',
        'https://name:password@kitchen.example/',
        'kitchen.example',
        undefined,
        1,
      ]) {
        expect(problemsOf(set(wrong))).toEqual([`:privacyAndCompliance:${name}`]);
      }
    },
  );

  // @shows MCP-6.6, MCP-6.7
  test('field mediaAssets:icons must have all six sizes for light, and for dark if given', () => {
    const light = ':mediaAssets:icons:light';
    expect(problemsOf((listing) => iconsOf(listing).pop())).toEqual([light]);
    expect(problemsOf((listing) => iconsOf(listing).push({ ...iconsOf(listing)[0] }))).toEqual([
      `${light}:6:size`,
    ]);
    expect(
      problemsOf((listing) => iconsOf(listing).push({ size: 100, uri: 'https://a.example/a.png' })),
    ).toEqual([`${light}:6:size`]);
    expect(problemsOf((listing) => delete mediaOf(listing).icons['light'])).toEqual([light]);
    expect(problemsOf((listing) => (mediaOf(listing).icons['dark'] = iconsOf(listing)))).toEqual(
      [],
    );
    expect(problemsOf((listing) => (mediaOf(listing).icons['dark'] = []))).toEqual([
      ':mediaAssets:icons:dark',
    ]);
    const asText = (listing: Map) => {
      for (const icon of iconsOf(listing))
        icon['size'] = `${String(icon['size'])}x${String(icon['size'])}`;
    };
    expect(problemsOf(asText)).toEqual([]);
  });

  // @shows MCP-6.10
  test.each([
    'http://a.example/a.png',
    'https://a.example/a.gif',
    'https://a.example/?a.png',
    'https://a.example/#a.png',
    'a.png',
  ])('cannot have an image at %s', (uri) => {
    const set = (listing: Map) => Object.assign(iconsOf(listing)[0] ?? {}, { uri });
    expect(problemsOf(set)).toEqual([':mediaAssets:icons:light:0:uri']);
  });

  // @shows MCP-6.10
  test.each(['png', 'JPG', 'jpeg', 'webp'])(
    'may have an image path that ends in .%s, with any query',
    (end) => {
      const uri = `https://a.example/a.${end}?v=2`;
      expect(problemsOf((listing) => Object.assign(iconsOf(listing)[0] ?? {}, { uri }))).toEqual(
        [],
      );
    },
  );

  // @shows MCP-6.8
  test('field mediaAssets:carouselImages must have at least one 600x900 image with alt text', () => {
    const path = ':mediaAssets:carouselImages';
    const image = (changes: Map) => (listing: Map) =>
      Object.assign(mediaOf(listing).carouselImages[0] ?? {}, changes);
    expect(problemsOf((listing) => (mediaOf(listing).carouselImages = []))).toEqual([path]);
    expect(problemsOf(image({ size: '900x600' }))).toEqual([`${path}:0:size`]);
    expect(problemsOf(image({ altText: '' }))).toEqual([`${path}:0:altText`]);
    expect(problemsOf(image({ altText: 'x'.repeat(251) }))).toEqual([`${path}:0:altText`]);
    expect(problemsOf(image({ altText: FAMILY.repeat(250) }))).toEqual([]);
  });

  // @shows MCP-6.9
  test('field mediaAssets:bannerImages is optional, with 1200x600 images and alt text', () => {
    const banner = { size: '1200x600', uri: 'https://a.example/b.webp', altText: 'A banner' };
    const set = (value: unknown) => (listing: Map) => (mediaOf(listing).bannerImages = value);
    expect(problemsOf(set([banner]))).toEqual([]);
    expect(problemsOf(set([]))).toEqual([]);
    expect(problemsOf(set([{ ...banner, size: '600x900', altText: undefined }]))).toEqual([
      ':mediaAssets:bannerImages:0:size',
      ':mediaAssets:bannerImages:0:altText',
    ]);
  });

  // @shows MCP-3.7, MCP-13.1
  test('has all its problems reported with their paths, and is one problem if it is missing', () => {
    const paths = listingProblems({}).map(({ key }) => key);
    expect(paths).toEqual([
      'assistant:listing:name:value',
      'assistant:listing:shortDescription',
      'assistant:listing:fullDescription',
      'assistant:listing:examplePhrases',
      'assistant:listing:privacyAndCompliance:privacyPolicyUrl',
      'assistant:listing:privacyAndCompliance:termsOfUseUrl',
      'assistant:listing:mediaAssets:icons:light',
      'assistant:listing:mediaAssets:carouselImages',
    ]);
    for (const missing of [undefined, null, [], 'Kitchen']) {
      expect(listingProblems(missing)).toEqual([
        { key: 'assistant:listing', message: expect.stringContaining('is missing; ') as string },
      ]);
    }
  });

  // @shows MCP-3.7
  test('has each problem explained', () => {
    const explained = (change: (listing: Map) => void) =>
      listingProblems(listingWith(change)).map(({ message }) => message);
    const length = 'must be a string of 1 to 123 characters';
    for (const text of ['', '  ', 7])
      expect(explained((listing) => (listing['shortDescription'] = text))).toEqual([length]);
    expect(explained((listing) => (listing['shortDescription'] = 'x'.repeat(124)))).toEqual([
      'has 124 characters; the maximum is 123',
    ]);
    expect(explained((listing) => iconsOf(listing).splice(1, 2))).toEqual([
      'also needs icons in these sizes: 72, 88',
    ]);
    expect(explained((listing) => iconsOf(listing).push({ ...iconsOf(listing)[0] }))).toEqual([
      'repeats the size 64',
    ]);
  });

  // @shows MCP-6.6
  test.each(['64x72', '64x64px', 'a64x64', '64', 'x', ''])(
    'cannot have an icon of the size %j',
    (size) => {
      const set = (listing: Map) => Object.assign(iconsOf(listing)[0] ?? {}, { size });
      expect(problemsOf(set)).toContain(':mediaAssets:icons:light:0:size');
    },
  );

  // @shows MCP-6.5
  test.each(['https://name@kitchen.example/', 'https://:password@kitchen.example/'])(
    'cannot have the URL %s, which contains credentials',
    (url) => {
      const set = (listing: Map) => {
        (listing['privacyAndCompliance'] as Map)['termsOfUseUrl'] = url;
      };
      expect(problemsOf(set)).toEqual([':privacyAndCompliance:termsOfUseUrl']);
    },
  );

  // @shows MCP-6.12
  test.each([
    {},
    { mediaAssets: null },
    { mediaAssets: { icons: null } },
    { mediaAssets: { icons: { light: 'none', dark: [null, 64, { size: 'big' }] } } },
  ])('is exported unchanged if it has no icons with sizes: %j', (listing) => {
    expect(addonManifest(listing, 'https://kitchen.example/mcp')).toMatchObject({
      storeListing: { locales: { 'en-US': listing } },
    });
  });

  // @shows MCP-6.12
  test('is exported with sizes as strings, and otherwise unchanged', () => {
    const listing = listingWith(() => {});
    const manifest = addonManifest(listing, 'https://kitchen.example/mcp') as {
      storeListing: { locales: { 'en-US': Map } };
    };
    const exported = manifest.storeListing.locales['en-US'];
    expect(iconsOf(exported).map(({ size }) => size)).toEqual([
      '64x64',
      '72x72',
      '88x88',
      '126x126',
      '180x180',
      '241x241',
    ]);
    expect(exported['examplePhrases']).toEqual(listing['examplePhrases']);
    expect(mediaOf(exported).carouselImages).toEqual(mediaOf(listing).carouselImages);
  });
});
