// @engines sqlite: the database makes no difference
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setUpAssistant } from '../packages/assistant/src/setup.ts';
import { startAssistant } from './support/assistant.ts';
import { porticoHere, ROOT } from './support/console.ts';

const HOST = path.join(ROOT, 'examples', 'assistant');
const APP = path.join(ROOT, 'test', 'fixtures', 'configured-assistant', 'app.ts');
const CALLBACK = 'https://vendor.example/callback';
const SECOND = 'https://vendor.example/second';
const OTHER = 'https://other.example/callback';

let folder: string;
let storage: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-assistant-clients-'));
});
beforeEach(async () => {
  storage = await mkdtemp(path.join(folder, 'run-'));
  env = {};
  configure({ redirect_uris: [CALLBACK, SECOND] });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Turns account linking on, with these settings of the assistant and more variables. */
function configure(
  settings: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, unknown>> = {},
): void {
  const assistant = { account_linking: true, ...settings };
  env = { ASSISTANT_CONFIG: JSON.stringify({ assistant, ...others }), ...more };
}

const run = (...args: readonly string[]) =>
  porticoHere(['--app', APP, ...args], {
    cwd: HOST,
    env: { STORAGE_DIR: storage, DATABASE_URL: `sqlite://${storage}/app.db`, ...env },
  });

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

interface Reported {
  readonly role: string;
  readonly client_id: string;
  readonly client_secret: string | null;
  readonly state: string;
  readonly differences: readonly string[];
}

async function setUp(): Promise<readonly Reported[]> {
  const { stdout } = await run('assistant:setup', '--json');
  return (JSON.parse(stdout) as { readonly clients: readonly Reported[] }).clients;
}

/** Registers a client as an operator does, and returns its id. */
async function create(name: string, ...options: readonly string[]): Promise<string> {
  const created = await succeed('oauth:client:create', name, ...options, '--json');
  return (JSON.parse(created) as { readonly client_id: string }).client_id;
}

const states = (clients: readonly Reported[]) =>
  Object.fromEntries(clients.map(({ role, state }) => [role, state]));
const differences = (clients: readonly Reported[], wanted: string) =>
  clients.find(({ role }) => role === wanted)?.differences;

/** The findings of the doctor about a part, as `outcome: detail`. */
async function findings(wanted: string): Promise<readonly string[]> {
  const { stdout } = await run('assistant:doctor', '--json');
  const { checks } = JSON.parse(stdout) as {
    readonly checks: readonly { part: string; outcome: string; detail: string }[];
  };
  return checks
    .filter(({ part }) => part === wanted)
    .map(({ outcome, detail }) => `${outcome}: ${detail}`);
}

const LINKING = ['--redirect', CALLBACK, '--redirect', SECOND, '--scope=mcp:tools'];

describe('assistant:setup', () => {
  // @shows MCP-4.3
  test('keeps the client that matches, although an older one with its role differs', async () => {
    await succeed('db:migrate', 'up');
    const service = ['--grant=client_credentials', '--scope=mcp:service'];
    await create('Old service', ...service, '--scope=mcp:tools');
    await create('Kitchen', '--redirect', CALLBACK, '--scope=mcp:tools');
    const matching = [await create('New service', ...service), await create('Kitchen', ...LINKING)];
    expect(await setUp()).toMatchObject(
      matching.map((id) => ({ client_id: id, state: 'unchanged', client_secret: null })),
    );
  });

  // @shows MCP-4.4, MCP-4.5
  test.each([
    ['one of the configured callbacks', [CALLBACK, OTHER], ['openid'], 'differs'],
    ['one of the configured scopes', [OTHER], ['openid', 'mcp:tools'], 'differs'],
    ['neither a callback nor a scope', [OTHER], ['openid'], 'registered'],
  ])(
    'counts a client with the configured name and with %s: %j %j %s',
    async (_, callbacks, scopes, state) => {
      await succeed('db:migrate', 'up');
      await create(
        'Kitchen',
        ...callbacks.map((uri) => `--redirect=${uri}`),
        ...scopes.map((scope) => `--scope=${scope}`),
      );
      expect(states(await setUp())).toEqual({ service: 'registered', 'account-linking': state });
    },
  );

  // @shows MCP-4.4
  test('says in what each client differs', async () => {
    await succeed('db:migrate', 'up');
    const service = ['--redirect', OTHER, '--grant=authorization_code', '--scope=mcp:service'];
    const id = await create('Service', ...service);
    await create('Kitchen', '--public', '--redirect', CALLBACK, '--scope=openid');
    const clients = await setUp();
    expect(differences(clients, 'service')).toEqual([
      'its grants: registered authorization_code, configured client_credentials',
      `its redirect URIs: registered ${OTHER}, configured none`,
    ]);
    expect(differences(clients, 'account-linking')).toEqual([
      'it is public, but must have a secret',
      'its scopes: registered openid, configured mcp:tools',
      `its redirect URIs: registered ${CALLBACK}, configured ${CALLBACK} ${SECOND}`,
    ]);
    const { code, stdout } = await run('assistant:setup');
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(1, 5)).toEqual([
      `service client ${id} differs from the configuration:`,
      '  its grants: registered authorization_code, configured client_credentials',
      `  its redirect URIs: registered ${OTHER}, configured none`,
      expect.stringMatching(/^ {2}→ .*oauth:client:revoke \w+, and run /),
    ]);
    expect(await findings('service client')).toEqual([
      `failing: ${id} differs from the configuration: its grants: registered authorization_code, ` +
        `configured client_credentials; its redirect URIs: registered ${OTHER}, configured none`,
    ]);
  });

  // @shows MCP-4.1
  test('says that a client must have a secret if it authenticates with keys', async () => {
    const settings = { redirect_uris: [CALLBACK] };
    configure(settings, {}, { oauth_server: { private_key_jwt: true } });
    await succeed('db:migrate', 'up');
    const jwks = 'https://vendor.example/jwks.json';
    await create('Service', '--grant=client_credentials', '--scope=mcp:service', '--jwks', jwks);
    expect(differences(await setUp(), 'service')).toEqual([
      'it authenticates with keys, but must have a secret',
    ]);
  });

  // @shows MCP-4.3
  test('keeps the linking client if a callback or scope is configured twice', async () => {
    configure(
      { redirect_uris: [CALLBACK, CALLBACK], user_scopes: ['mcp:tools', 'mcp:tools'] },
      {},
      { mcp: { oauth: { scopes_supported: ['mcp:tools', 'mcp:tools'] } } },
    );
    await succeed('assistant:setup', '--migrate');
    expect(states(await setUp())).toEqual({ service: 'unchanged', 'account-linking': 'unchanged' });
    expect(await findings('account-linking client')).toEqual([
      expect.stringMatching(/^ok: .*authorization_code, refresh_token$/),
    ]);
  });

  // @shows MCP-4.3
  test('keeps the linking client if the configured name begins or ends with a space', async () => {
    configure({ redirect_uris: [CALLBACK] }, { ASSISTANT_NAME: ' Kitchen ' });
    await succeed('assistant:setup', '--migrate');
    expect(states(await setUp())).toEqual({ service: 'unchanged', 'account-linking': 'unchanged' });
    expect(JSON.parse(await succeed('oauth:client:list', '--json'))).toMatchObject([
      { client_name: 'Kitchen service' },
      { client_name: 'Kitchen' },
    ]);
  });

  // @shows MCP-2.3
  test('registers clients with the longest name', async () => {
    const name = 'x'.repeat(90);
    configure({ redirect_uris: [CALLBACK] }, { ASSISTANT_NAME: name });
    await succeed('assistant:setup', '--migrate');
    expect(JSON.parse(await succeed('oauth:client:list', '--json'))).toMatchObject([
      { client_name: `${name} service` },
      { client_name: name },
    ]);
  });

  test('explains in one line why a client cannot be registered', async () => {
    configure({ redirect_uris: [CALLBACK] }, { ASSISTANT_NAME: 'Kit\u200Bchen' });
    expect(await run('assistant:setup', '--migrate')).toMatchObject({
      code: 1,
      stderr: 'The name contains control or invisible characters; remove them\n',
    });
  });

  // @shows MCP-4.3, MCP-9.1
  test('prints only the ids and new secrets, and says that they are not shown again', async () => {
    const settings = { account_linking: false };
    configure(settings);
    const first = await run('assistant:setup', '--migrate');
    expect(first.stdout.trimEnd().split('\n')).toEqual([
      'canonical resource: http://localhost:8082/mcp',
      expect.stringMatching(/^service client id: {5}\S+$/),
      expect.stringMatching(/^service client secret: \S+$/),
    ]);
    const once = expect.stringContaining('They are not shown again') as string;
    expect(first).toMatchObject({ code: 0, stderr: once });
    expect(await run('assistant:setup')).toMatchObject({ code: 0, stderr: '' });
    configure({ redirect_uris: [CALLBACK] });
    expect(await run('assistant:setup')).toMatchObject({ code: 0, stderr: once });
  });

  // @shows MCP-4.3
  test('prints the client that it registered before the database failed', async () => {
    await succeed('db:migrate', 'up');
    const failing = new DatabaseSync(path.join(storage, 'app.db'));
    try {
      failing.exec(
        'CREATE TRIGGER full BEFORE INSERT ON oauth_clients ' +
          "WHEN NEW.name = 'Kitchen' BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
      );
      const service = await run('assistant:setup', '--json');
      expect([service.code, JSON.parse(service.stdout)]).toEqual([
        1,
        { clients: [expect.objectContaining({ role: 'service', state: 'registered' })] },
      ]);
      expect(service.stderr).toContain('the disk is full');
      failing.exec('DROP TRIGGER full');
      failing.exec(
        'CREATE TRIGGER full BEFORE INSERT ON oauth_clients ' +
          "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
      );
      const text = await run('assistant:setup');
      expect([text.code, text.stdout.trimEnd().split('\n')]).toEqual([
        1,
        [expect.stringMatching(/^canonical resource: /), expect.stringMatching(/ matches the /)],
      ]);
      failing.exec('DELETE FROM oauth_clients');
      const nothing = await run('assistant:setup', '--json');
      expect([nothing.code, nothing.stdout]).toEqual([1, '']);
    } finally {
      failing.close();
    }
  });

  // @shows MCP-4.5
  test('registers each client once if it runs twice at the same time', async () => {
    const running = await startAssistant();
    const { application, server, service, linking } = running;
    try {
      for (const { id } of [service, linking]) await server.clients.revoke(id);
      const told: Reported[] = [];
      const setups = [0, 1].map(() => setUpAssistant(application, (client) => told.push(client)));
      await Promise.all(setups);
      for (const role of ['service', 'account-linking']) {
        const clients = told.filter((client) => client.role === role);
        expect(clients.map(({ state }) => state).toSorted()).toEqual(['registered', 'unchanged']);
        expect(new Set(clients.map(({ client_id: id }) => id)).size).toBe(1);
      }
    } finally {
      await running.close();
    }
  });

  test('is audited as a change on the console', async () => {
    const events = path.join(storage, 'events');
    configure({ redirect_uris: [CALLBACK] }, { EVENTS_TO: events });
    await succeed('assistant:setup', '--migrate');
    const lines = (await readFile(events, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { type: 'client_registered', by: 'console' },
      { type: 'client_registered', by: 'console' },
    ]);
  });
});

describe('assistant:setup --manifest', () => {
  // @shows MCP-9.1
  test('creates the folders of the file, and says that it wrote the file', async () => {
    const file = path.join(storage, 'addon-package', 'new', 'addon.json');
    const written = await run('assistant:setup', '--migrate', '--manifest', file);
    expect(written).toMatchObject({ code: 0 });
    expect(written.stdout.trimEnd().split('\n').at(-1)).toBe(`Wrote ${file}.`);
    expect(await readdir(path.dirname(file))).toEqual(['addon.json']);
    const second = path.join(storage, 'second.json');
    const { stdout } = await run('assistant:setup', '--json', '--manifest', second);
    expect(JSON.parse(stdout)).toMatchObject({ manifest: second });
  });

  // @shows MCP-3.7
  test('says what is wrong with the listing, writes nothing and registers nothing', async () => {
    configure({ redirect_uris: [CALLBACK], listing: { shortDescription: '', name: { value: 7 } } });
    await succeed('db:migrate', 'up');
    const file = path.join(storage, 'addon.json');
    expect(await run('assistant:setup', '--manifest', file)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The directory listing cannot be exported:\n' +
        'assistant:listing:name:value: must be a string of 1 to 30 characters\n' +
        'assistant:listing:shortDescription: must be a string of 1 to 123 characters\n',
    });
    expect(await readdir(storage)).not.toContain('addon.json');
    expect(JSON.parse(await succeed('oauth:client:list', '--json'))).toEqual([]);
  });

  // @shows MCP-4.3
  test('prints the secrets even if the folder of the file is removed meanwhile', async () => {
    const gone = path.join(storage, 'gone');
    const file = path.join(gone, 'addon.json');
    configure({ account_linking: false }, { TAKEN_AWAY: gone });
    const { code, stdout, stderr } = await run(
      'assistant:setup',
      '--migrate',
      '--json',
      '--manifest',
      file,
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { clients: [{ client_secret: expect.stringMatching(/^\S{43}$/) as string }], manifest: null },
    ]);
    expect(stderr).toContain(`${file} cannot be written: `);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
