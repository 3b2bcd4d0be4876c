// @engines sqlite: it starts many processes, and other tests check what they write
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newKey } from './support/assertions.ts';
import {
  installPortico,
  portico,
  porticoHere,
  ROOT,
  start,
  type ConsoleResult,
} from './support/console.ts';
import { freePort } from './support/free-port.ts';
import { RUNS_ALL } from './support/scale.ts';

const PORTAL = path.join(ROOT, 'examples', 'portal');
let storage: string;

beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'portico-console-'));
  await run('db:migrate', 'up');
});
afterAll(() => rm(storage, { recursive: true, force: true }));

function run(...args: string[]): Promise<ConsoleResult> {
  return porticoHere(args, { cwd: PORTAL, env: { STORAGE_DIR: storage } });
}

/** Runs the console as a person does, in a separate process. */
function asProcess(...args: string[]): Promise<ConsoleResult> {
  return portico(args, { cwd: PORTAL, env: { STORAGE_DIR: storage } });
}

async function json<T>(...args: string[]): Promise<T> {
  return parsed(await run(...args, '--json')) as T;
}

function parsed({ code, stdout, stderr }: ConsoleResult): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

/** One clear line on standard error, nothing on standard output, exit code 1. */
function expectRefusal({ code, stdout, stderr }: ConsoleResult, says: string): void {
  expect(stderr).toContain(says);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
}

interface ClientMetadata {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly client_name: string;
  readonly redirect_uris: readonly string[];
  readonly scope: string;
  readonly grant_types: readonly string[];
}

describe('oauth:client:create', () => {
  const redirect = '--redirect=https://client.example/cb';

  // @shows AS-2.2, AS-4.13, AS-13.3, HOST-4.1, RFC6749-10.10a, RFC9700-2.6b
  test('prints the client with the names of RFC 7591, and nothing else, on standard output', async () => {
    const args = ['oauth:client:create', 'My app', redirect, '--scope=openid,notes:read', '--json'];
    const client = parsed(await asProcess(...args));
    expect(client).toMatchObject({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      client_secret: expect.stringMatching(/^[\w-]{43}$/) as string,
      // It does not expire (RFC 7591 section 3.2.1).
      client_secret_expires_at: 0,
      client_name: 'My app',
      redirect_uris: ['https://client.example/cb'],
      scope: 'openid notes:read',
      grant_types: ['authorization_code', 'refresh_token'],
    });
  });

  // @shows AS-13.3
  test('without --json prints the id and the secret once, as readable text', async () => {
    const { stdout, stderr } = await run(
      'oauth:client:create',
      'My app',
      redirect,
      '--scope=openid',
    );
    expect(stdout).toMatch(/^client id: {5}[0-9a-f]{32}\nclient secret: [\w-]{43}\n$/);
    expect(stderr).toContain('not shown again');
    const listed = await run('oauth:client:list');
    expect(listed.stdout).not.toContain(/client secret: (\S+)/.exec(stdout)?.[1]);
  });

  // @shows AS-13.3, RFC6749-10.1
  test('with --public prints no secret', async () => {
    const client = await json<ClientMetadata>(
      'oauth:client:create',
      'Phone',
      redirect,
      '--scope=openid',
      '--public',
    );
    expect(client).not.toHaveProperty('client_secret');
    expect(client).toMatchObject({ token_endpoint_auth_method: 'none' });
  });

  // @shows AS-13.19
  test('with --native allows loopback redirects at any port and private-use schemes', async () => {
    const program = [
      'oauth:client:create',
      'Tool',
      '--redirect=com.example.tool:/cb',
      '--scope=openid',
      '--public',
    ];
    expectRefusal(await run(...program), 'is not an absolute https URL');
    const native = await json<ClientMetadata>(
      ...program,
      '--native',
      '--redirect=http://127.0.0.1/cb',
    );
    expect(native).toMatchObject({
      application_type: 'native',
      registered_by: 'operator',
      redirect_uris: ['com.example.tool:/cb', 'http://127.0.0.1/cb'],
    });
    expect(await json('oauth:client:create', 'Site', redirect, '--scope=openid')).toMatchObject({
      application_type: 'web',
    });
    const { stdout } = await run('oauth:client:list');
    expect(stdout).toContain(`${native.client_id}  Tool  (public, native)`);
  });

  // @shows AS-22.10
  test('has commands that create, list and revoke initial access tokens', async () => {
    const made = await json<Record<string, unknown>>(
      'oauth:initial-access-token:create',
      '--uses=3',
      '--lifetime=600',
      '--note=For the field team',
    );
    expect(made).toMatchObject({ uses: 3, uses_left: 3, note: 'For the field team' });
    expect(made['initial_access_token']).toMatch(/^[\w-]{43}$/);
    expect(Number(made['expires_at']) - Number(made['created_at'])).toBe(600);
    const { stdout } = await run('oauth:initial-access-token:list');
    expect(stdout).toContain(`${String(made['id'])}  3 of 3 uses left, until `);
    expect(stdout).toContain('For the field team');
    expect(stdout).not.toContain(String(made['initial_access_token']));
    expectRefusal(await run('oauth:initial-access-token:create', '--uses=0'), 'must be from 1 to');
    expectRefusal(
      await run('oauth:initial-access-token:create', '--lifetime=0'),
      'must be from 1 to',
    );
    expect((await run('oauth:initial-access-token:revoke', String(made['id']))).stdout).toContain(
      'is revoked',
    );
    expectRefusal(
      await run('oauth:initial-access-token:revoke', String(made['id'])),
      'has this id',
    );
    expectRefusal(await run('oauth:initial-access-token:revoke', 'one at a time'), 'has this id');
    expect(await json('oauth:initial-access-token:list')).toEqual([]);
  });

  // @shows AS-13.11
  test('warns about a new initial access token that cannot be used yet', async () => {
    const { code, stderr } = await run('oauth:initial-access-token:create');
    expect(code).toBe(0);
    expect(stderr).toContain(
      'oauth_server:registration is off, so no client can register with this token yet',
    );
  });

  test('with --grant=client_credentials needs no redirect', async () => {
    const args = ['oauth:client:create', 'Job', '--grant=client_credentials', '--scope=notes:read'];
    expect((await json<ClientMetadata>(...args)).grant_types).toEqual(['client_credentials']);
  });

  // @shows AS-4.1, AS-10.2, AS-13.11
  test('with --grant=introspection can be combined with grants that need a redirect', async () => {
    const args = [
      'oauth:client:create',
      'API',
      redirect,
      '--scope=openid',
      '--grant=introspection',
    ];
    const { grant_types } = await json<ClientMetadata>(...args);
    expect(grant_types).toEqual(['authorization_code', 'refresh_token', 'introspection']);
  });

  // @shows AS-13.3, AS-13.11, RFC9700-2.6c
  test('accepts --grant, --redirect and --scope several times', async () => {
    const client = await json<ClientMetadata>(
      'oauth:client:create',
      'Both',
      redirect,
      '--redirect=http://127.0.0.1:9/cb',
      '--scope=openid',
      '--scope=notes:read',
      '--grant=authorization_code',
      '--grant=client_credentials',
    );
    expect(client.redirect_uris).toEqual(['https://client.example/cb', 'http://127.0.0.1:9/cb']);
    expect(client.scope).toBe('openid notes:read');
    expect(client.grant_types).toEqual(['authorization_code', 'client_credentials']);
  });

  // @shows AS-13.12
  test.each([
    // @shows RFC9700-2.6c
    ['http://client.example/cb', 'must be https'],
    // @shows RFC9700-2.6c
    ['http://127.0.0.1.client.example/cb', 'must be https'],
    // @shows RFC6749-3.1.2a
    ['/cb', 'is not an absolute URL'],
    ['client.example/cb', 'is not an absolute URL'],
    ['https:/client.example/cb', 'is not an absolute https URL'],
    ['app://callback', 'is not an absolute https URL'],
    ['javascript:alert(1)', 'is not an absolute https URL'],
    // @shows AS-1.4, RFC9700-4.1
    ['https://*.client.example/cb', 'wildcard'],
    // @shows AS-1.4
    ['https://client.example/*', 'wildcard'],
    ['https://client.example/cb#', 'fragment'],
    // @shows RFC6749-3.1.2a
    ['https://client.example/cb#there', 'fragment'],
    ['https://user:pass@client.example/cb', 'user name or password'],
    ['https://client.example/c b', 'has the character U+0020'],
    ['https://client.example/cb?state=mine', 'has the parameter state in its query'],
    ['https://client.example/cb?a=b&iss=x', 'has the parameter iss in its query'],
  ])('refuses the redirect %s', async (uri, says) => {
    expectRefusal(
      await run('oauth:client:create', 'App', `--redirect=${uri}`, '--scope=openid'),
      says,
    );
  });

  test.each<[string, string[], string]>([
    ['an unknown scope', [redirect, '--scope=notes:destroy'], 'notes:destroy'],
    ['no scope', [redirect], '--scope'],
    ['neither a redirect nor a grant', ['--scope=openid'], '--redirect'],
    // @shows AS-1.4, RFC9700-2.4
    ['an unknown grant', [redirect, '--scope=openid', '--grant=password'], 'password'],
    // @shows AS-13.13, RFC6749-4.4
    [
      'a public client with client credentials',
      ['--public', '--scope=notes:read', '--grant=client_credentials'],
      'public',
    ],
    // @shows AS-10.2
    [
      'a public client with introspection',
      ['--public', redirect, '--scope=openid', '--grant=introspection'],
      'public',
    ],
    // @shows AS-13.13
    [
      'a redirect that no grant uses',
      [redirect, '--scope=notes:read', '--grant=client_credentials'],
      'authorization_code',
    ],
    // @shows RFC6749-3.1.2.2
    ['code without a redirect', ['--scope=openid', '--grant=authorization_code'], '--redirect'],
    // @shows AS-13.13
    [
      'a personal scope for client credentials alone',
      ['--scope=openid', '--grant=client_credentials'],
      'person',
    ],
  ])('refuses %s', async (_, args, says) => {
    const before = await json<unknown[]>('oauth:client:list');
    expectRefusal(await run('oauth:client:create', 'App', ...args), says);
    expect(await json<unknown[]>('oauth:client:list')).toHaveLength(before.length);
  });

  // @shows AS-16.3
  test.each(['', '   ', 'a\u202Eb', 'x'.repeat(101)])('refuses the name %j', async (name) => {
    expectRefusal(await run('oauth:client:create', name, redirect, '--scope=openid'), 'name');
  });
});

describe('oauth:client:create --jwks', () => {
  const { jwk } = newKey('ES256', 'a-kid');
  const service = ['--grant=client_credentials', '--scope=notes:read'];
  const at = (...args: string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: {
        STORAGE_DIR: storage,
        PORTAL_CONFIG: JSON.stringify({ oauth_server: { private_key_jwt: true } }),
      },
    });

  // Without the option, as in the other tests, the doctor would correctly report them.
  afterAll(async () => {
    const clients = JSON.parse((await at('oauth:client:list', '--json')).stdout) as readonly {
      readonly client_id: string;
      readonly token_endpoint_auth_method: string;
    }[];
    const having = clients.filter((each) => each.token_endpoint_auth_method === 'private_key_jwt');
    for (const { client_id } of having) await at('oauth:client:revoke', client_id);
  });

  // @shows AS-23.8
  test('accepts a file or a URL, and creates no secret', async () => {
    const file = path.join(storage, 'keys.json');
    await writeFile(file, JSON.stringify({ keys: [{ ...jwk, x5t: 'passed over' }] }));
    const printed = parsed(
      await at('oauth:client:create', 'Job', ...service, `--jwks=${file}`, '--json'),
    );
    expect(printed).toMatchObject({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...jwk, use: 'sig' }] },
    });
    expect(printed).not.toHaveProperty('client_secret');
    const url = 'https://client.example/keys.json';
    const shown = await at('oauth:client:create', 'Job', ...service, `--jwks=${url}`);
    expect(shown.stdout).toMatch(/^client id: +[0-9a-f]{32}\n$/);
    expect(shown.stderr).toContain('private_key_jwt');
    // Its host does not exist. The command reports this immediately.
    expect(shown.stderr).toContain('they cannot be fetched');
    expect((await at('oauth:client:list')).stdout).toContain(`keys       ${url} (private_key_jwt)`);
  });

  // @shows AS-23.8, AS-23.2
  test('accepts an algorithm, which is then the only one allowed', async () => {
    const file = path.join(storage, 'keys.json');
    await writeFile(file, JSON.stringify({ keys: [jwk] }));
    const create = ['oauth:client:create', 'Job', ...service, `--jwks=${file}`];
    const printed = parsed(await at(...create, '--jwks-alg=ES256', '--json'));
    expect(printed).toMatchObject({ token_endpoint_auth_signing_alg: 'ES256' });
    expect((await at('oauth:client:list')).stdout).toContain(
      'stored by the server (private_key_jwt, ES256)',
    );
    expectRefusal(await at(...create, '--jwks-alg=PS256'), 'no key for PS256');
    expectRefusal(
      await at(...create, '--jwks-alg=HS256'),
      'one of RS256, PS256, ES256, EdDSA, Ed25519',
    );
    expectRefusal(
      await at('oauth:client:create', 'Job', ...service, '--jwks-alg=ES256'),
      'public keys',
    );
  });

  // @shows AS-23.8, AS-23.1
  test('refuses anything but a key set, and refuses keys if private_key_jwt is off', async () => {
    const file = path.join(storage, 'no-keys.json');
    await writeFile(file, 'keys');
    expectRefusal(
      await at('oauth:client:create', 'Job', ...service, `--jwks=${file}`),
      'cannot be read',
    );
    expectRefusal(
      await at('oauth:client:create', 'Job', ...service, '--jwks=/nowhere'),
      'cannot be read',
    );
    expectRefusal(
      await at('oauth:client:create', 'Job', ...service, '--jwks=http://client.example/'),
      'is not https',
    );
    expectRefusal(
      await run('oauth:client:create', 'Job', ...service, '--jwks=https://client.example/keys'),
      'oauth_server:private_key_jwt is off',
    );
  });
});

describe('oauth:client:create --dpop', () => {
  const create = [
    'oauth:client:create',
    'Bound',
    '--grant=client_credentials',
    '--scope=notes:read',
    '--dpop',
  ];
  const at = (...args: string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: {
        STORAGE_DIR: storage,
        PORTAL_CONFIG: JSON.stringify({ oauth_server: { dpop: 'accept' } }),
      },
    });

  // @shows AS-24.6
  test('creates a client that requires bound tokens and is listed as such; refused while DPoP is off', async () => {
    const printed = parsed(await at(...create, '--json')) as Readonly<Record<string, unknown>>;
    expect(printed).toMatchObject({ dpop_bound_access_tokens: true });
    expect((await at('oauth:client:list')).stdout).toContain('tokens     bound to its key (DPoP)');
    expect(await json<unknown[]>('oauth:client:list')).toContainEqual(
      expect.objectContaining({ client_id: printed['client_id'], dpop_bound_access_tokens: true }),
    );
    await at('oauth:client:revoke', String(printed['client_id']));
    expectRefusal(await run(...create), 'oauth_server:dpop is off');
  });
});

describe('oauth:client:create --profile', () => {
  const at = (config: object, ...args: string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { STORAGE_DIR: storage, PORTAL_CONFIG: JSON.stringify({ oauth_server: config }) },
    });
  const MIXED = { private_key_jwt: true, dpop: 'accept', pushed_authorization_requests: 'accept' };
  const banker = [
    'oauth:client:create',
    'Bank',
    '--redirect=https://client.example/cb',
    '--scope=notes:read',
    '--jwks=https://client.example/keys',
    '--profile=fapi2',
  ];

  // @shows AS-27.2, AS-27.5
  test.runIf(RUNS_ALL)(
    'sets the profile; refused while a feature that the profile needs is off',
    async () => {
      const printed = parsed(await at(MIXED, ...banker, '--json')) as {
        readonly client_id: string;
      };
      expect(printed).toMatchObject({
        profile: 'fapi2',
        token_endpoint_auth_method: 'private_key_jwt',
        dpop_bound_access_tokens: true,
        require_pushed_authorization_requests: true,
      });
      expect((await at(MIXED, 'oauth:client:list')).stdout).toContain('profile    fapi2');
      expect((await at(MIXED, 'oauth:server:doctor')).stdout).toMatch(
        /^ok +profile .*meet a profile: \d+ \(fapi2\)/m,
      );
      expectRefusal(await run(...banker), 'oauth_server:dpop');
      const { stdout } = await run('oauth:server:doctor');
      expect(stdout).toMatch(/^failing +profile .*cannot get tokens/m);
      expect(stdout).toContain(printed.client_id);
      expectRefusal(await at(MIXED, ...banker.slice(0, -1), '--profile=fapi3'), 'fapi3');
      await at(MIXED, 'oauth:client:revoke', printed.client_id);
      expect((await run('oauth:server:doctor')).stdout).not.toContain(' profile ');
    },
  );

  // @shows AS-27.1, AS-27.3
  test.runIf(RUNS_ALL)(
    'on a server with the profile: creates a suitable key, and names every contradicting option',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'portico-profiled-'));
      const server = (config: object, ...args: string[]) =>
        at({ profile: 'fapi2', key_path: path.join(folder, 'keys'), ...config }, ...args);
      expect((await server({}, 'oauth:server:doctor')).stdout).toMatch(
        /^failing +profile .*ES256/m,
      );
      expect((await server({}, 'oauth:server:setup')).code).toBe(0);
      expect((await server({}, 'oauth:server:doctor')).stdout).toMatch(
        /^(?:ok|warning) +profile /m,
      );
      const refused = await server({ dpop: 'off', code_ttl: 90 }, 'oauth:client:list');
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      for (const key of ['dpop', 'code_ttl'])
        expect(refused.stderr).toContain(`oauth_server:${key}: `);
      await rm(folder, { recursive: true });
    },
  );
});

describe('oauth:client:create --par', () => {
  const create = [
    'oauth:client:create',
    'App',
    '--redirect=https://client.example/cb',
    '--scope=openid',
  ];

  // @shows AS-25.8
  test('creates a client that must push its requests; refused while pushed requests are off', async () => {
    const at = (...args: string[]) =>
      porticoHere(args, {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: {
          STORAGE_DIR: storage,
          PORTAL_CONFIG: JSON.stringify({
            oauth_server: { pushed_authorization_requests: 'accept' },
          }),
        },
      });
    const printed = parsed(await at(...create, '--par', '--json')) as ClientMetadata;
    expect(printed).toMatchObject({ require_pushed_authorization_requests: true });
    expect((await at('oauth:client:list')).stdout).toContain(
      'requests   pushed (RFC 9126), and no others',
    );
    const other = parsed(await at(...create, '--json'));
    expect(other).not.toHaveProperty('require_pushed_authorization_requests');
    expectRefusal(
      await run(...create, '--par'),
      'oauth_server:pushed_authorization_requests is off',
    );
    await at('oauth:client:revoke', printed.client_id);
  });
});

describe('oauth:client:rotate-secret and oauth:client:revoke', () => {
  const create = () =>
    json<ClientMetadata>(
      'oauth:client:create',
      'App',
      '--redirect=https://client.example/cb',
      '--scope=openid',
    );

  // @shows AS-5.9, AS-13.4, AS-13.5
  test('prints the new secret once, and the list shows the deadline of the old secret', async () => {
    const client = await create();
    const before = Math.floor(Date.now() / 1000);
    const rotated = await json<{ client_secret: string; previous_secret_expires_at: number }>(
      'oauth:client:rotate-secret',
      client.client_id,
      '--overlap=600',
    );
    expect(rotated.client_secret).not.toBe(client.client_secret);
    expect(rotated.previous_secret_expires_at - before).toBeGreaterThanOrEqual(599);
    const { stdout } = await run('oauth:client:list');
    expect(stdout).toContain(
      new Date(rotated.previous_secret_expires_at * 1000).toISOString().slice(0, 16),
    );
    const now = await json<{ previous_secret_expires_at: null }>(
      'oauth:client:rotate-secret',
      client.client_id,
      '--now',
    );
    expect(now.previous_secret_expires_at).toBeNull();
    expect((await run('oauth:client:list')).stdout).not.toContain('rotation   open');
  });

  test('ends an open rotation when the client is revoked', async () => {
    const { client_id: id } = await create();
    await run('oauth:client:rotate-secret', id);
    expect((await run('oauth:client:list')).stdout).toContain('rotation   open');
    await run('oauth:client:revoke', id);
    expect((await run('oauth:client:list')).stdout).not.toContain('rotation   open');
  });

  test.each([
    ['--overlap=x', 'overlap'],
    ['--overlap=-5', 'overlap'],
    ['--overlap=0', '--now'],
  ])('refuses %s', async (option, says) => {
    const client = await create();
    expectRefusal(await run('oauth:client:rotate-secret', client.client_id, option), says);
  });

  test('refuses --overlap together with --now, and the secret stays', async () => {
    const { client_id: id } = await create();
    expectRefusal(
      await run('oauth:client:rotate-secret', id, '--overlap=600', '--now'),
      'not both',
    );
    expect((await run('oauth:client:show', id)).stdout).toContain('no previous secret is accepted');
  });

  test('prints one clear line for an unknown client', async () => {
    expectRefusal(
      await run('oauth:authorization:list', '--client=unknown'),
      'No client has this id',
    );
    expectRefusal(
      await asProcess('oauth:client:rotate-secret', 'unknown'),
      'No client has this id',
    );
    expectRefusal(await run('oauth:client:revoke', 'unknown'), 'No client has this id');
  });

  // @shows AS-13.4, AS-13.9
  test('lists a revoked client as revoked', async () => {
    const client = await create();
    expect((await run('oauth:client:revoke', client.client_id)).code).toBe(0);
    const { stdout } = await run('oauth:client:list');
    expect(stdout).toMatch(new RegExp(`^${client.client_id} .*revoked`, 'm'));
    const shown = (await run('oauth:client:show', client.client_id)).stdout;
    expect(shown).toMatch(/^ {2}ended +\d{4}-\d{2}-\d{2}T/m);
    expectRefusal(await run('oauth:client:revoke', client.client_id), 'revoked');
  });
});

describe('oauth:server:doctor', () => {
  // @shows AS-1.7, AS-13.2
  test('prints which check fails and what to do, and exits with 1', async () => {
    const empty = await mkdtemp(path.join(tmpdir(), 'portico-doctor-'));
    try {
      const env = { STORAGE_DIR: empty };
      const { code, stdout, stderr } = await portico(['oauth:server:doctor'], { cwd: PORTAL, env });
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /^failing {2}schema .*not applied: .*\n.*→ run npx portico db:migrate up$/m,
      );
      expect(stdout).toMatch(/^failing {2}signing key .*oauth_server:key_path/m);
      expect(stderr).toBe('2 checks fail.\n');
      await porticoHere(['db:migrate', 'up'], { cwd: PORTAL, env });
      await porticoHere(['oauth:server:setup'], { cwd: PORTAL, env });
      const healthy = await porticoHere(['oauth:server:doctor', '--json'], { cwd: PORTAL, env });
      expect({ code: healthy.code, stderr: healthy.stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(healthy.stdout)).toMatchObject({ healthy: true, open_rotations: [] });
      const text = await porticoHere(['oauth:server:doctor'], { cwd: PORTAL, env });
      expect(text.stdout).toMatch(/\nNo check fails\.(?: Warnings: \d+\.)?\n$/);
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });

  test('lists every configuration error that prevents the start', async () => {
    const { code, stdout } = await portico(['oauth:server:doctor', '--json'], {
      cwd: PORTAL,
      env: { STORAGE_DIR: storage, PUBLIC_URL: 'http://portal.example', APP_ENV: 'production' },
    });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: { detail: string; outcome: string }[] };
    expect(checks.map(({ outcome }) => outcome)).toEqual(['failing', 'failing']);
    expect(checks.map(({ detail }) => detail).join()).toMatch(/APP_ENV: .*public_url: /);
  });

  // @shows AS-13.2
  test.runIf(RUNS_ALL)('reports an open rotation with its deadline', async () => {
    await run('oauth:server:setup');
    const args = ['--redirect=https://client.example/cb', '--scope=openid'];
    const { client_id: id } = await json<ClientMetadata>('oauth:client:create', 'Turning', ...args);
    const before = Date.now();
    await run('oauth:client:rotate-secret', id, '--overlap=3600');
    const after = Date.now();
    const { stdout } = await run('oauth:server:doctor');
    const told = new RegExp(
      // The quotes escape control characters, because a client may have chosen its name itself.
      String.raw`^open +secret rotation +"Turning" \(${id}\): .* accepted until (\S+)$`,
      'm',
    ).exec(stdout);
    // The commands take time, and the deadline is printed to the minute or the second.
    const deadline = Date.parse(told?.[1] ?? '') - 3_600_000;
    expect(deadline).toBeGreaterThan(before - 60_000);
    expect(deadline).toBeLessThanOrEqual(after);
    const rotations = (await json<{ open_rotations: unknown[] }>('oauth:server:doctor'))
      .open_rotations;
    expect(rotations).toEqual([
      { client_id: id, client_name: 'Turning', previous_secret_expires_at: expect.any(Number) },
    ]);
    await run('oauth:client:rotate-secret', id, '--now');
    expect(await json('oauth:server:doctor')).toMatchObject({ open_rotations: [] });
  });
});

describe('the commands for keys', () => {
  // @shows AS-2.12, AS-13.7
  test('oauth:keys:prune refuses an age below the lifetime of an ID token', async () => {
    expectRefusal(await run('oauth:keys:prune', '--older-than=60'), 'oauth_server:id_token_ttl');
    expect((await run('oauth:keys:prune')).code).toBe(0);
  });

  // @shows AS-2.15, AS-13.14
  test('limit ages to a century and overlaps to a year', async () => {
    expectRefusal(
      await run('oauth:keys:prune', '--older-than=9000000000000'),
      'at most 3155760000 seconds',
    );
    const { client_id: id } = await json<ClientMetadata>(
      'oauth:client:create',
      'Turning',
      '--redirect=https://client.example/cb',
      '--scope=openid',
    );
    expectRefusal(
      await run('oauth:client:rotate-secret', id, '--overlap=9000000000000'),
      'The overlap must be from 0 to 31536000 seconds',
    );
  });

  // @shows HOST-4.7
  test('accept the same duration format in every option', async () => {
    const { client_id: id } = await json<ClientMetadata>(
      'oauth:client:create',
      'Turning',
      '--redirect=https://client.example/cb',
      '--scope=openid',
    );
    const now = Math.floor(Date.now() / 1000);
    const rotated = await json<{ previous_secret_expires_at: number }>(
      'oauth:client:rotate-secret',
      id,
      '--overlap=30m',
    );
    expect(Math.round((rotated.previous_secret_expires_at - now) / 60)).toBe(30);
    const token = await json<{ created_at: number; expires_at: number }>(
      'oauth:initial-access-token:create',
      '--lifetime=2w',
    );
    expect(token.expires_at - token.created_at).toBe(14 * 86_400);
    expectRefusal(await run('oauth:keys:prune', '--older-than=30m'), 'oauth_server:id_token_ttl');
    expect((await run('oauth:keys:prune', '--older-than=90m')).code).toBe(0);

    const spans = [
      ['oauth:client:rotate-secret', id, '--overlap'],
      ['oauth:initial-access-token:create', '--lifetime'],
      ['oauth:keys:prune', '--older-than'],
      ['oauth:keys:rotate', '--if-older-than'],
      ['oauth:keys:rotate', '--staged-for'],
      ['serve', '--drain'],
    ];
    const times = [
      ['oauth:audit', '--since'],
      ['oauth:audit', '--until'],
      ['oauth:authorization:list', '--unused-since'],
    ];
    const nothing = ['soon', '', ' ', '-1', '1.5h', '1e3', '0x10', '30 m', '30M', '1h30m', '1y'];
    for (const [command, value] of spans.flatMap((each) =>
      nothing.map((text) => [each, text] as const),
    )) {
      const option = command.at(-1) ?? '';
      expectRefusal(
        await run(...command.slice(0, -1), `${option}=${value}`),
        `${option} must be a duration such as 30d, 12h, 90m or 45s, or a number of seconds`,
      );
    }
    // A bare number could mean seconds or days.
    for (const [command, value] of times.flatMap((each) =>
      [...nothing, '90'].map((text) => [each, text] as const),
    )) {
      const [name = '', option = ''] = command;
      expectRefusal(
        await run(name, `${option}=${value}`),
        `${option} must be an age such as 30d, 12h, 90m or 45s, a date such as 2026-01-31, or a time`,
      );
    }
  });

  // @shows AS-4.8, AS-13.1
  test('oauth:server:setup creates one key, once, and reports what is missing', async () => {
    const empty = await mkdtemp(path.join(tmpdir(), 'portico-setup-'));
    try {
      const setup = (...args: string[]) =>
        porticoHere(['oauth:server:setup', ...args], { cwd: PORTAL, env: { STORAGE_DIR: empty } });
      const first = await setup();
      expect(first.code).toBe(0);
      expect(first.stdout).toMatch(/Created the signing key/);
      expect(first.stdout).toContain('db:migrate up');
      const second = JSON.parse((await setup('--json')).stdout) as {
        signing_key: { created: boolean };
      };
      expect(second.signing_key.created).toBe(false);
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });

  // @shows AS-13.6, AS-13.16
  test('accept a different algorithm for a key and then for a client, which the list shows', async () => {
    const own = await mkdtemp(path.join(tmpdir(), 'portico-algorithms-'));
    try {
      const console = (...args: string[]) =>
        porticoHere(args, { cwd: PORTAL, env: { STORAGE_DIR: own } });
      await console('db:migrate', 'up');
      const create = (...args: string[]) =>
        console(
          'oauth:client:create',
          'App',
          '--redirect=https://client.example/cb',
          '--scope=openid',
          ...args,
        );
      expectRefusal(
        await create('--id-token-alg=ES256'),
        'The server has no signing key for ES256; run npx portico oauth:keys:generate --alg ES256 first',
      );
      expectRefusal(await create('--id-token-alg=PS256'), 'use one of RS256, ES256, EdDSA');
      expectRefusal(
        await console('oauth:keys:generate', '--alg=ES384'),
        'one of RS256, ES256, EdDSA',
      );
      const generated = await console('oauth:keys:generate', '--alg', 'ES256');
      expect(generated.stdout).toMatch(
        /^The key \S{43} signs from now on, for applications created with --id-token-alg ES256\. Earlier keys stay published\.\n$/,
      );
      const client = parsed(await create('--id-token-alg=ES256', '--json'));
      expect(client).toMatchObject({ id_token_signed_response_alg: 'ES256' });
      expect(parsed(await create('--json'))).not.toHaveProperty('id_token_signed_response_alg');
      const { stdout } = await console('oauth:client:list');
      expect(stdout.match(/^ {2}ID tokens .*$/gm)).toEqual(['  ID tokens  ES256']);
      expect(stdout.match(/^[0-9a-f]{32} /gm)).toHaveLength(2);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  });

  // @shows AS-13.6, AS-13.16
  test.each([
    ['oauth:keys:generate', ['--alg <algorithm>', 'RS256, ES256 or EdDSA', '(default: RS256)']],
    [
      'oauth:client:create',
      ['--id-token-alg <algorithm>', 'RS256, ES256 or EdDSA', '(default: RS256)'],
    ],
    ['oauth:keys:prune', ['keep the newest key of each algorithm']],
  ])('%s --help lists the algorithms', async (command, says) => {
    const { code, stdout } = await run(command, '--help');
    expect(code).toBe(0);
    for (const each of says) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(each);
  });

  // @shows AS-13.6
  test('oauth:keys:generate adds a key each time', async () => {
    const kids = [
      await json<{ kid: string }>('oauth:keys:generate'),
      await json<{ kid: string }>('oauth:keys:generate'),
    ];
    expect(new Set(kids.map(({ kid }) => kid)).size).toBe(2);
  });
});

describe('a command without the database schema', () => {
  test.each([['serve'], ['account:list'], ['oauth:client:list'], ['oauth:prune']])(
    '%s prints what to do, and does nothing',
    async (command) => {
      const empty = await mkdtemp(path.join(tmpdir(), 'portico-empty-'));
      try {
        const result = await portico([command], {
          cwd: PORTAL,
          env: { STORAGE_DIR: empty, PORT: '0' },
        });
        expectRefusal(
          result,
          'Some database migrations are not applied. Run npx portico db:migrate up',
        );
      } finally {
        await rm(empty, { recursive: true, force: true });
      }
    },
  );
});

describe('db:migrate', () => {
  // @shows AS-13.8, HOST-4.3
  test('up run a second time reports that the schema is up to date; status lists every step', async () => {
    expect((await run('db:migrate', 'up')).stdout).toBe('The schema is up to date.\n');
    const states = await json<{ name: string; appliedAt: string | null }[]>('db:migrate', 'status');
    expect(states.map(({ name }) => name)).toContain('oauth_server_0001_initial');
    expect(states.every(({ appliedAt }) => appliedAt !== null)).toBe(true);
  });

  // @shows AS-13.8
  test('up prints the error of a failing application migration, not that the schema is missing', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-own-migration-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'app.ts');
    await writeFile(
      file,
      `import portal from ${JSON.stringify(path.join(PORTAL, 'app.ts'))};
      const wrong = { name: 'own_0001_wrong', up: (on) => on.execute('CREATE TABEL notes') };
      export default { ...portal, migrations: [wrong] };`,
    );
    const result = await portico(['--app', file, 'db:migrate', 'up'], {
      cwd: PORTAL,
      env: { STORAGE_DIR: folder },
    });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/TABEL/);
    expect(result.stderr).not.toContain('db:migrate');
  });

  test.each([
    ['cannot be created', 'file/app.sqlite', 'unable to open database file'],
    ['is a folder', 'folder', 'unable to open database file'],
    ['is not a database', 'file', 'file is not a database'],
  ])('up and status name the database file if it %s', async (_, database, problem) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-no-database-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, 'file'), 'This is not a database. '.repeat(100));
    await mkdir(path.join(folder, 'folder'));
    const file = path.join(folder, database);
    const env = { STORAGE_DIR: storage, DATABASE_URL: `sqlite:${file}` };
    for (const action of ['up', 'status']) {
      const { code, stdout, stderr } = await porticoHere(['db:migrate', action], {
        cwd: PORTAL,
        env,
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^The database file cannot be used: .*\. Check the path in database_url \(DATABASE_URL\), .* \(details are in the log\)\n$/,
      );
      expect(stderr).toContain(problem);
      expect(stderr).toContain(`(${file})`);
    }
  });
});

describe('db:migrate --print', () => {
  test.each([
    ['status', '--print'],
    ['up', '--print', '--json'],
  ])('refuses %s %s %s, because --print works only with up', async (...args) => {
    expectRefusal(await run('db:migrate', ...args), '--print works only with up');
  });
});

describe.runIf(RUNS_ALL)('an application of a different framework', () => {
  test.each(['express', 'fastify', 'jwt'])(
    '%s: the console finds it, and uses its hasher and accounts',
    async (name) => {
      const own = await mkdtemp(path.join(tmpdir(), 'portico-framework-'));
      const at = (...args: string[]) =>
        porticoHere(args, { cwd: path.join(ROOT, 'examples', name), env: { STORAGE_DIR: own } });
      try {
        expect((await at('db:migrate', 'up')).code).toBe(0);
        expect((await at('oauth:server:setup')).code).toBe(0);
        const created = await at(
          'oauth:client:create',
          'App',
          '--redirect=https://a.example/',
          '--scope=orders:read',
        );
        expect(created.code, created.stderr).toBe(0);
        const doctor = await at('oauth:server:doctor');
        expect(doctor.code, doctor.stdout).toBe(0);
        expect(doctor.stdout).not.toMatch(/^(?:failing|warning)/m);
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    },
  );
});

describe('the console', () => {
  // @shows HOST-4.3
  test('--help lists the commands of the kit, the plugin and the application', async () => {
    const { code, stdout } = await asProcess('--help');
    expect(code).toBe(0);
    for (const command of ['serve', 'db:migrate', 'oauth:client:create', 'account:suspend']) {
      expect(stdout).toContain(command);
    }
  });

  test('--help explains where commands come from if there is no application', async () => {
    const { code, stdout } = await portico(['--help'], { cwd: storage });
    expect(code).toBe(0);
    expect(stdout).toContain('--app <file>');
    expect(stdout).toContain('No application was found, so its commands are not listed.');
    expect((await asProcess('--help')).stdout).not.toContain('No application was found');
  });

  // @shows HOST-4.1
  test('reports an unknown command and mentions --help', async () => {
    const { code, stderr } = await asProcess('oauth:client:creat', 'x');
    expect(code).toBe(1);
    expect(stderr).toContain('Did you mean oauth:client:create?');
    expect(stderr).toContain('--help');
  });

  // @shows HOST-4.1
  test('without an application in the folder, prints how to name one', async () => {
    const { code, stderr } = await portico(['serve'], { cwd: storage });
    expect(code).toBe(1);
    expect(stderr).toContain('--app');
  });

  test('uses the application that package.json names, in every folder below it', async () => {
    await run('account:create', 'new@example.com', 'New');
    const { code, stdout } = await portico(['account:list', '--json'], {
      cwd: path.join(ROOT, 'docs'),
      env: { STORAGE_DIR: storage, APP_ENV: 'dev' },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ email: 'new@example.com' }),
    );
  });
});

describe('the server refuses to start, with each wrong key and what to do', () => {
  const MISCONFIGURED = path.join(ROOT, 'test', 'fixtures', 'misconfigured');

  function serve(config: unknown, env: Record<string, string> = {}): Promise<ConsoleResult> {
    const given = {
      CONFIG: JSON.stringify(config),
      DIRECTORY: storage,
      APP_ENV: 'dev',
      PORT: '0',
      ...env,
    };
    return porticoHere(['serve'], { cwd: MISCONFIGURED, env: given });
  }

  // @shows AS-2.1, AS-2.2, AS-2.3, AS-2.16
  test('if all keys are missing, in one message', async () => {
    const { code, stderr } = await serve({});
    expect(code).toBe(1);
    for (const key of ['public_url', 'oauth_server:name', 'oauth_server:scopes']) {
      expect(stderr).toMatch(new RegExp(`^ +${key}: is missing; \\w+`, 'm'));
    }
    expect(stderr).not.toContain('    at ');
  });

  // @shows API-8.2
  test.each([
    // @shows AS-2.1, RFC6749-3.1b, RFC6749-10.9, RFC8414-2a, FAPI2-5.2.1.1
    ['http://app.example.com', 'dev'],
    ['http://localhost:8080', 'prod'],
    // @shows AS-2.1, RFC8414-2a
    ['https://app.example.com/path', 'prod'],
    // @shows RFC8414-2a
    ['https://app.example.com?x', 'prod'],
    ['https://user@app.example.com', 'prod'],
    // @shows AS-2.1
    ['app.example.com', 'prod'],
    ['ftp://app.example.com', 'prod'],
    ['', 'prod'],
  ])('for public_url %j with APP_ENV=%s', async (publicUrl, mode) => {
    const config = { public_url: publicUrl, oauth_server: { name: 'App', scopes: {} } };
    const { code, stderr } = await serve(config, { APP_ENV: mode });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ +public_url: /m);
  });

  // @shows AS-2.3, AS-2.16, AS-3.2, RFC8707-2a
  test('if all keys are malformed, in one message', async () => {
    const { stderr } = await serve({
      public_url: 'https://app.example.com',
      oauth_server: {
        name: ' ',
        scopes: { 'not a scope': 'x', openid: 'x', 'a:b': { label: '' }, 'c:d': 3 },
        access_token_ttl: 0,
        code_ttl: '60',
        audience: 'not a url',
        acess_token_ttl: 1,
      },
    });
    const named = [...stderr.matchAll(/^ +(\S+(?: a scope)?): /gm)].map(([, key]) => key);
    expect(new Set(named)).toEqual(
      new Set([
        'oauth_server:name',
        'oauth_server:scopes:not a scope',
        'oauth_server:scopes:openid',
        'oauth_server:scopes:a:b:label',
        'oauth_server:scopes:c:d',
        'oauth_server:access_token_ttl',
        'oauth_server:code_ttl',
        'oauth_server:audience',
        'oauth_server:acess_token_ttl',
      ]),
    );
  });
});

describe('serve', () => {
  test('responds until it is stopped', async () => {
    const port = await freePort();
    const env = { STORAGE_DIR: storage, PORT: String(port) };
    const server = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd: PORTAL,
      env,
    });
    // During development, only this machine can reach it.
    await server.says(`Listening on http://127.0.0.1:${port}`);
    const answer = await fetch(`http://localhost:${port}/.well-known/openid-configuration`);
    expect(answer.status).toBe(200);
    expectRefusal(
      await portico(['serve'], { cwd: PORTAL, env }),
      `Port ${port} is in use; choose another one with --port or PORT`,
    );
    expect(await server.stop()).toBe(0);
  });

  // @shows AS-29.14
  test('keeps an idle connection longer than proxies do, but not while it stops', async () => {
    const port = await freePort();
    const server = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd: PORTAL,
      env: { STORAGE_DIR: storage, PORT: String(port) },
    });
    await server.says(`Listening on http://127.0.0.1:${port}`);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [response] = (await once(
      request({ agent, port, path: '/health/live' }).end(),
      'response',
    )) as [IncomingMessage];
    expect(response.headers['keep-alive']).toBe('timeout=125');
    // The body of this request arrives after the signal.
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1' };
    const slow = request({ agent, port, path: '/oauth/token', method: 'POST', headers: form });
    slow.flushHeaders();
    const answered = once(slow, 'response');
    response.resume();
    expect((await fetch(`http://localhost:${port}/health/ready`)).status).toBe(200);
    server.process.kill('SIGTERM');
    await server.says('Stopping after the current requests');
    slow.end('a');
    const [answer] = (await answered) as [IncomingMessage];
    const since = performance.now();
    answer.resume();
    expect(answer.statusCode).toBe(401);
    expect(await server.ended()).toBe(0);
    expect(performance.now() - since).toBeLessThan(5000);
  });

  test('prefers --port to PORT', async () => {
    const port = await freePort();
    const env = { STORAGE_DIR: storage, PORT: String(await freePort()) };
    const command = [
      path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
      'serve',
      `--port=${port}`,
    ];
    const server = start(command, { cwd: PORTAL, env });
    await server.says(`Listening on http://127.0.0.1:${port}`);
    expect(await server.stop()).toBe(0);
  });

  test.each(['65536', '-1', '80.5', 'x', '', '1e3'])('refuses --port=%s', async (port) => {
    expectRefusal(await run('serve', `--port=${port}`), 'The port must be from 0 to 65535');
  });

  // @shows AS-29.6
  test('keeps responding and stops in order if its output has no reader any more', async () => {
    const port = await freePort();
    const says = encodeURIComponent("process.on('SIGUSR2', () => console.log('a line'))");
    const server = start(
      [path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve', '--drain=600'],
      {
        cwd: PORTAL,
        env: {
          APP_ENV: 'dev',
          STORAGE_DIR: storage,
          PORT: String(port),
          NODE_OPTIONS: `--import=data:text/javascript,${says}`,
        },
      },
    );
    await server.says('Logging to');
    server.process.stdout?.destroy();
    server.process.stderr?.destroy();
    const probe = async () => (await fetch(`http://localhost:${port}/health/ready`)).status;
    expect(await probe()).toBe(200);
    server.process.kill('SIGUSR2');
    server.process.kill('SIGTERM');
    while ((await probe()) !== 503);
    expect(await probe()).toBe(503);
    expect(await server.stop()).toBe(143);
  });

  // @shows AS-29.6
  test('after a stop signal, keeps responding but reports not ready until the second signal', async () => {
    const port = await freePort();
    const env = { APP_ENV: 'dev', STORAGE_DIR: storage, PORT: String(port) };
    const command = [
      path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
      'serve',
      '--drain=600',
    ];
    const server = start(command, { cwd: PORTAL, env });
    await server.says('Listening on');
    const probe = () => fetch(`http://localhost:${port}/health/ready`);
    await probe();
    server.process.kill('SIGTERM');
    await server.says('Stopping in 600 seconds');
    const ready = await probe();
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping', checks: {} }]);
    expect((await fetch(`http://localhost:${port}/.well-known/jwks.json`)).status).toBe(200);
    expect(await server.stop()).toBe(143);
    const another = start(command, { cwd: PORTAL, env });
    await another.says('Listening on');
    another.process.kill('SIGINT');
    await another.says('Stopping in 600 seconds');
    expect(await another.stop('SIGINT')).toBe(130);
    for (const drain of ['soon', '-1', '1.5', '3601']) {
      const refused = await porticoHere(['serve', `--drain=${drain}`], { cwd: PORTAL, env });
      expectRefusal(
        refused,
        drain === '3601' ? '--drain must be from 0 to 3600 seconds' : '--drain must be a duration',
      );
    }
  });
});

describe.runIf(RUNS_ALL)('an application without accounts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-nobody-'));
    await mkdir(path.join(folder, 'node_modules'));
    await installPortico(folder);
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(
      path.join(folder, 'app.ts'),
      `import { defineApplication } from '@portico/kit';
      import { oauthServer } from 'portico';
      export default defineApplication({
        config: (env) => ({
          public_url: 'http://localhost:' + env.PORT,
          log: { path: 'app.log' },
          oauth_server: { name: 'Robots', scopes: { 'notes:read': 'Read' }, registration: env.REGISTRATION ?? 'off' },
        }),
        plugins: [oauthServer()],
      });`,
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  // @shows AS-13.25
  test('starts, because services need no accounts, and warns that sign-in is impossible', async () => {
    const env = { APP_ENV: 'dev', PORT: String(await freePort()) };
    expect((await porticoHere(['db:migrate', 'up'], { cwd: folder, env })).code).toBe(0);
    const server = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd: folder,
      env,
    });
    await server.says(
      "Warning: no one can sign in: oauth_server:login_route: no route is named 'login'; pass accounts to the application",
    );
    expect(await readFile(path.join(folder, 'app.log'), 'utf8')).toContain('no one can sign in');
    const metadata = await fetch(
      `http://localhost:${env.PORT}/.well-known/oauth-authorization-server`,
    );
    expect(metadata.status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  test('setup does not require a client if clients can register themselves', async () => {
    const env = { APP_ENV: 'dev', PORT: String(await freePort()) };
    await porticoHere(['db:migrate', 'up'], { cwd: folder, env });
    const missing = async (REGISTRATION: string) =>
      (await porticoHere(['oauth:server:setup'], { cwd: folder, env: { ...env, REGISTRATION } }))
        .stdout;
    expect(await missing('off')).toContain('no client is registered');
    expect(await missing('initial_access_token')).toContain('oauth:initial-access-token:create');
    expect(await missing('open')).not.toContain('no client is registered');
  });
});

describe.runIf(RUNS_ALL)('an error in the file of the application', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-mistake-'));
    // As in an application's own folder, from which its packages are resolved.
    await mkdir(path.join(folder, 'node_modules'));
    await installPortico(folder);
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const HEAD =
    "import { defineApplication } from '@portico/kit';\nimport { oauthServer } from 'portico';\n";

  async function mistaken(name: string, source: string): Promise<ConsoleResult> {
    await writeFile(path.join(folder, name), HEAD + source);
    return portico(['serve', '--app', name], { cwd: folder });
  }

  // @shows HOST-3.2
  test.each([
    [
      'a syntax error in TypeScript',
      'syntax.ts',
      'export default defineApplication({\n  directory:\n};\n',
      'syntax.ts:5',
    ],
    [
      'a syntax error in JavaScript',
      'syntax.js',
      'export default defineApplication({\n  directory:\n};\n',
      'syntax.js:5',
    ],
    ['a TypeError', 'type.ts', 'const x = undefined;\nx.name;\n', 'type.ts:4:3'],
    [
      'a TypeError in register',
      'register.ts',
      "export default defineApplication({\n  directory: import.meta.dirname,\n  config: { public_url: 'https://a.example' },\n  register() {\n    null.name;\n  },\n});\n",
      'register.ts:7:10',
    ],
    ['an import of a missing file', 'import.ts', "import x from './nowhere.ts';\n", 'import.ts'],
    ['a name that is not exported', 'name.ts', "import { nothing } from 'portico';\n", 'name.ts:3'],
  ])('%s is printed with its file, line and stack', async (_, name, source, place) => {
    const { code, stdout, stderr } = await mistaken(name, source);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(place);
    expect(stderr).toMatch(/Error.*: .+/);
    expect(stderr).toMatch(/^ {4}at /m);
  });

  // @shows HOST-3.2
  test.each([
    ['[oauthServer]', 'plugins:0: must be a plugin, but is a function; call it: oauthServer()'],
    [
      '[oauthServer(), undefined]',
      'plugins:1: must be a plugin: pass the return value of oauthServer() or of another ' +
        'plugin function',
    ],
    [
      '[{}]',
      'plugins:0: must be a plugin: pass the return value of oauthServer() or of another ' +
        'plugin function',
    ],
  ])('in plugins: %s is printed with the key, without a stack', async (plugins, message) => {
    const source = `export default defineApplication({ directory: import.meta.dirname, config: {}, plugins: ${plugins} });\n`;
    const { code, stderr } = await mistaken('plugins.ts', source);
    expect(code).toBe(1);
    expect(stderr).toBe(`The configuration cannot be used:\n  ${message}\n`);
  });

  // @shows HOST-3.2
  test('that is not an Error object is printed too, with the file', async () => {
    const { code, stderr } = await mistaken('thrown.ts', "throw 'a text';\n");
    expect(code).toBe(1);
    expect(stderr).toContain('thrown.ts');
    expect(stderr).toContain("Thrown: 'a text'");
  });

  // @shows HOST-4.2
  test('does not affect portico --version', async () => {
    await writeFile(path.join(folder, 'app.ts'), 'this is not a program');
    const { code, stdout } = await portico(['--version'], { cwd: folder });
    expect(code).toBe(0);
    const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(stdout).toBe(`portico ${version}, node ${process.versions.node}\n`);
  });
});

describe.runIf(RUNS_ALL)('log:path', () => {
  const fixture = path.join(ROOT, 'test', 'fixtures', 'misconfigured', 'app.ts');
  const standardOutput = (folder: string, port: number) => ({
    STORAGE_DIR: folder,
    DIRECTORY: folder,
    APP_ENV: 'dev',
    PORT: String(port),
    CONFIG: JSON.stringify({
      public_url: `http://localhost:${port}`,
      log: { path: '-' },
      oauth_server: { name: 'App', scopes: {} },
    }),
  });

  // @shows HOST-1.3, HOST-1.8
  test('set to - writes to standard output while serving, and serve prints this', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-log-'));
    const port = await freePort();
    const env = standardOutput(folder, port);
    expect((await portico(['--app', fixture, 'db:migrate', 'up'], { cwd: folder, env })).code).toBe(
      0,
    );
    const args = [
      path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
      'serve',
      '--app',
      fixture,
    ];
    const server = start(args, { cwd: folder, env });
    await server.says('Logging to standard output');
    await fetch(`http://localhost:${port}/oauth/userinfo`, {
      headers: { 'X-Request-Id': 'told-here' },
    });
    await server.says('told-here');
    expect(await server.stop()).toBe(0);
    const lines = server.stdout().trimEnd().split('\n');
    // Before the first request, serve may warn that sign-in is impossible.
    const ids = lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId);
    expect(ids.filter((id) => id !== undefined)).toEqual(['told-here']);
    expect(await readdir(folder)).not.toContain('-');
    await rm(folder, { recursive: true, force: true });
  });

  // @shows HOST-1.3
  test('a log file that cannot be opened is reported as a configuration problem, not as a stack', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-log-'));
    await writeFile(path.join(folder, 'a file'), '');
    const config = { public_url: 'http://localhost', log: { path: 'a file/app.log' } };
    const { code, stderr } = await portico(['--app', fixture, 'db:migrate', 'status'], {
      cwd: folder,
      env: {
        ...standardOutput(folder, 1),
        CONFIG: JSON.stringify({ ...config, oauth_server: { name: 'App', scopes: {} } }),
      },
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The configuration cannot be used:\n {2}log:path: is .*a file\/app\.log, which this process cannot open \(E[A-Z]+: .*\); choose a file that this process can write, or "-" for standard output\n$/,
    );
    await rm(folder, { recursive: true, force: true });
  });

  // @shows HOST-1.3
  test('set to - writes to standard error in a command, so that standard output contains only data', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'portico-log-'));
    const env = standardOutput(folder, 1);
    // Without a schema, the doctor logs what it cannot examine.
    const { stdout, stderr } = await portico(['--app', fixture, 'oauth:server:setup', '--json'], {
      cwd: folder,
      env,
    });
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
    expect(stderr).toContain('"level":"');
    await rm(folder, { recursive: true, force: true });
  });
});
