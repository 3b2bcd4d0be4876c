import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openDatabase, type ConfigMap } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openUsers } from '../../examples/express/users.ts';
import { installExample } from '../../examples/install.ts';
import { holdContract } from '../mounts/contract.ts';
import type { RunningContender, Traits } from './mounts.ts';
import { launchChromium } from './chromium.ts';
import { describeWith } from './describe-with.ts';
import { ADA, GRACE, PASSWORD, REDIRECT_URI, codeRequest } from './portal.ts';
import { freePort } from './free-port.ts';
import { createVisitor, type Visitor } from './visitor.ts';

const run = promisify(execFile);

/**
 * A separate application in `examples/<folder>`. Its package.json has four scripts: `build`,
 * `portico` (the console), `setup` (creates the schema and keys with the console) and `start`. The
 * scripts read these variables: PORT, HOST, PUBLIC_URL, STORAGE_DIR (which contains users.sqlite),
 * DATABASE_URL, SESSION_SECRET, MCP_ORIGINS and MCP_STREAMING. MCP_CONFIG can contain the whole
 * `mcp` configuration as JSON.
 */
export interface Stack extends Traits {
  readonly folder: string;
  /** The status of its sign-in for a form from another site. */
  readonly foreignForm: number;
  /** The path that its sign-in form is sent to. Default: /login. */
  readonly formPath?: string;
}

/**
 * Installs an example outside the repository, with the packages that `npm publish` would upload.
 * Then builds it and runs the contract tests.
 */
export function holdStack(stack: Stack): void {
  describe.each([stack])('$name', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await installExample(stack.folder, npm);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    holdContract({ ...stack, start: (config) => startStack(folder, config) });

    describe('the sign-in', () => {
      let running: RunningContender;
      beforeAll(async () => {
        running = await startStack(folder);
      });
      afterAll(() => running.close());

      test('ignores a cookie that another person planted', async () => {
        const signIn = async (visitor: Visitor, email: string) =>
          visitor.submit(await visitor.visit('/login'), { email, password: PASSWORD });
        const whoIs = async (visitor: Visitor) =>
          /(?:ada|grace)@example\.com/.exec(
            await (await visitor.visit('/oauth/applications')).text(),
          )?.[0];
        const [other, visitor] = [createVisitor(running.url), createVisitor(running.url)];
        await signIn(other, GRACE);
        expect(await whoIs(other)).toBe(GRACE);
        for (const cookie of other.cookies().split('; ')) visitor.accept(`${cookie}; Path=/`);
        await signIn(visitor, ADA);
        expect(await whoIs(visitor)).toBe(ADA);
        expect(await whoIs(other)).not.toBe(ADA);
      });

      const { foreignForm, formPath = '/login' } = stack;
      test('refuses a form that another site sends; the token endpoint does not', async () => {
        const send = (to: string) =>
          fetch(`${running.url}${to}`, {
            method: 'POST',
            headers: {
              Origin: 'https://evil.example',
              'Sec-Fetch-Site': 'cross-site',
              Accept: 'text/html',
            },
            body: new URLSearchParams({ email: ADA, password: PASSWORD, grant_type: 'none' }),
            redirect: 'manual',
          });
        expect((await send(formPath)).status).toBe(foreignForm);
        expect((await send('/oauth/token')).status).toBe(401);
      });

      // The scripts of some frameworks send the form themselves, and show the next page without
      // loading it from the server.
      describeWith('chromium')('in a browser that runs the scripts of the application', () => {
        test('leads to the consent page', async () => {
          const client = await running.register({
            name: 'Notebook',
            redirectUris: [REDIRECT_URI],
            scopes: ['orders:read'],
          });
          const asked = codeRequest(client.id, { scope: 'orders:read' });
          const browser = await launchChromium();
          try {
            const page = await browser.newPage();
            await page.goto(`${running.url}/oauth/authorize?${asked}`, {
              waitUntil: 'networkidle',
            });
            await page.fill('[name=email]', ADA);
            await page.fill('[name=password]', PASSWORD);
            await page.click('form button');
            await page.waitForSelector('[name=decision]');
            expect(await page.title()).toContain('Allow Notebook');
          } finally {
            await browser.close();
          }
        });
      });
    });
  });
}

interface McpConfig {
  readonly allowed_origins?: readonly string[];
  readonly transport?: { readonly streaming: boolean };
}

async function startStack(
  folder: string,
  { mcp = {}, ...others }: ConfigMap = {},
): Promise<RunningContender> {
  if (Object.keys(others).length > 0)
    throw new Error('A stack takes the configuration of mcp alone');
  const { allowed_origins: allowedOrigins = [], transport = { streaming: false } } =
    mcp as McpConfig;
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-storage-'));
  const users = openUsers(path.join(storage, 'users.sqlite'));
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const databaseUrl = `sqlite:${path.join(storage, 'portico.sqlite')}`;
  const env = {
    NODE_ENV: 'production',
    APP_ENV: 'dev',
    HOST: 'localhost',
    PORT: port,
    PUBLIC_URL: url,
    STORAGE_DIR: storage,
    DATABASE_URL: databaseUrl,
    SESSION_SECRET: 'a secret of the tests, long enough for every framework',
    MCP_CONFIG: JSON.stringify(mcp),
    MCP_ORIGINS: allowedOrigins.length === 0 ? undefined : allowedOrigins.join(' '),
    MCP_STREAMING: String(transport.streaming),
  };
  await npm(folder, ['run', 'setup'], env);
  const stop = await startServer(folder, env, url);
  return {
    url,
    async register({ name, redirectUris = [], scopes = [], grants = [] }) {
      const options = [
        ...redirectUris.map((uri) => `--redirect=${uri}`),
        ...scopes.map((scope) => `--scope=${scope}`),
        ...grants.map((grant) => `--grant=${grant}`),
      ];
      const command = ['oauth:client:create', name, ...options, '--json'];
      const printed = await npm(folder, ['run', '--silent', 'portico', '--', ...command], env);
      const created = JSON.parse(printed) as { client_id: string; client_secret: string };
      return { id: created.client_id, secret: created.client_secret };
    },
    async secretHashOf(clientId) {
      const database = openDatabase(databaseUrl, { directory: storage });
      try {
        const sql = 'SELECT secret_hash FROM oauth_clients WHERE client_id = ?';
        const { rows } = await database.execute<{ secret_hash: string | null }>(sql, [clientId]);
        return rows[0]?.secret_hash ?? null;
      } finally {
        await database.close();
      }
    },
    suspend: async (email, suspended) =>
      users.setSuspended(users.byEmail(email)?.id ?? 0, suspended),
    permit: async (email, permissions) =>
      users.setPermissions(users.byEmail(email)?.id ?? 0, permissions),
    async close() {
      await stop();
      users.close();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

/** Starts the application, and waits until it answers. */
async function startServer(
  folder: string,
  env: Environment,
  url: string,
): Promise<() => Promise<void>> {
  const child = spawn('npm', ['run', '--silent', 'start'], {
    cwd: folder,
    env: { ...OUTSIDE, ...env },
    // npm does not forward the signal that ends it, so start a process group that can be ended as a
    // whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const closed = once(child, 'close');
  const answers = () =>
    fetch(`${url}/.well-known/openid-configuration`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null)
      throw new Error(`${folder} ended with ${child.exitCode}:\n${said}`);
    await setTimeout(50);
  }
  return async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await closed;
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of an ordinary shell: this version of Node, and no variables that npm and Vitest
 * set for the tests.
 */
const OUTSIDE: Environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:npm_(?!config_)|VITEST|TESTS$|TEST$|NODE_ENV$|NODE_OPTIONS$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/.test(
          name,
        ),
    ),
  ),
  PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
};

/** Runs npm and returns its output. If npm fails, rejects with that output. */
export async function npm(
  cwd: string,
  args: readonly string[],
  env: Environment = {},
): Promise<string> {
  try {
    return (await run('npm', args, { cwd, env: { ...OUTSIDE, ...env } })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr}`, {
      cause: error,
    });
  }
}
