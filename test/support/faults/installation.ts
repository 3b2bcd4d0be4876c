import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { porticoHere, ROOT, start, type RunningProcess } from '../console.ts';
import { startProxy, type ProxyOptions } from '../reverse-proxy.ts';
import { freePort } from '../free-port.ts';

/** A portal in a separate process behind a proxy, as a person on call finds it. */
export interface OperatedInstallation {
  /** The public address, which is the proxy's. */
  readonly url: string;
  /** The address from which Prometheus reads metrics. */
  readonly metricsUrl: string;
  readonly databaseUrl: string;
  readonly keyDirectory: string;
  /** The process of the portal. */
  readonly process: RunningProcess;
  /** The behaviour of the proxy. A fault can change it. */
  readonly proxy: { -readonly [Name in keyof ProxyOptions]: ProxyOptions[Name] };
  readonly clients: OperatedClients;
  /** Returns the lines of its log. */
  lines(): readonly LogLine[];
  /** Returns the types of the audit events that it has written. */
  audited(): readonly string[];
  /** Returns the checks of /health/ready that fail. Empty if the process is ready. */
  failingChecks(): Promise<readonly string[]>;
  /** Returns what the doctor finds with `--online`. */
  doctor(): Promise<readonly DoctorCheck[]>;
  /** The environment for console commands. They run in the folder of `operated-portal`. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface DoctorCheck {
  readonly part: string;
  readonly outcome: string;
  readonly detail: string;
  readonly remedy: string | null;
}

export interface OperatedClients {
  /** A confidential client that signs people in. */
  readonly shop: { readonly id: string; readonly secret: string };
  /** A public client that signs people in. */
  readonly phone: { readonly id: string };
}

export const FOLDER = path.join(ROOT, 'test', 'fixtures', 'operated-portal');
export const SHOP = 'https://shop.example/callback';
export const PHONE = 'https://phone.example/callback';
export const ADA = { email: 'ada@example.com', password: 'a password of Ada' };
/** The address from which the proxy connects. Callers have other addresses. */
export const PROXY_ADDRESS = '127.0.0.2';

/** Sets up an installation with console commands. Without a database URL, it uses a SQLite file. */
export async function startOperated(databaseUrl?: string): Promise<OperatedInstallation> {
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-operated-'));
  const options: OperatedInstallation['proxy'] = { appends: true, from: PROXY_ADDRESS };
  const proxy = await startProxy(options);
  const port = await freePort();
  const env = {
    APP_ENV: 'dev',
    PORT: String(port),
    PUBLIC_URL: proxy.url,
    STORAGE_DIR: storage,
    DATABASE_URL: databaseUrl ?? `sqlite:${path.join(storage, 'portal.sqlite')}`,
  };
  const ofConsole = { ...env, LOG_PATH: path.join(storage, 'console.log') };
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await porticoHere(args, { cwd: FOLDER, env: ofConsole });
    if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}`);
    return stdout;
  };
  await run('db:migrate', 'up');
  await run('oauth:server:setup');
  await run('account:create', ADA.email, 'Ada', `--password=${ADA.password}`);
  for (const permission of ['notes:read', 'notes.edit'])
    await run('account:grant', ADA.email, permission);
  const scope = '--scope=openid,notes:read';
  const shop = JSON.parse(
    await run('oauth:client:create', 'Shop', `--redirect=${SHOP}`, scope, '--json'),
  );
  const phone = JSON.parse(
    await run('oauth:client:create', 'Phone', `--redirect=${PHONE}`, scope, '--public', '--json'),
  );
  const metricsPort = String(await freePort());
  const serving = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: FOLDER,
    env: { ...env, METRICS_PORT: metricsPort },
  });
  await serving.says('Listening on');
  proxy.leadTo(port);
  /** Returns only complete lines. */
  const said = () =>
    serving
      .stdout()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return {
    url: proxy.url,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    databaseUrl: env.DATABASE_URL,
    keyDirectory: path.join(storage, 'oauth', 'keys'),
    process: serving,
    proxy: options,
    clients: {
      shop: { id: shop.client_id as string, secret: shop.client_secret as string },
      phone: { id: phone.client_id as string },
    },
    env: ofConsole,
    lines: () => said().filter((line): line is LogLine => typeof line['message'] === 'string'),
    audited: () => said().flatMap(({ type, level }) => (level === undefined ? [String(type)] : [])),
    async failingChecks() {
      const response = await fetch(`${proxy.url}/health/ready`);
      const { checks } = (await response.json()) as {
        readonly checks: Readonly<Record<string, string>>;
      };
      const failing = Object.entries(checks).flatMap(([part, found]) =>
        found === 'failing' ? [part] : [],
      );
      if ((response.status === 200) !== (failing.length === 0))
        throw new Error(`${response.status} with ${JSON.stringify(checks)}`);
      return failing;
    },
    async doctor() {
      const args = ['oauth:server:doctor', '--online', '--json'];
      const { stdout } = await porticoHere(args, { cwd: FOLDER, env: ofConsole });
      return (JSON.parse(stdout) as { readonly checks: readonly DoctorCheck[] }).checks;
    },
    async close() {
      await serving.stop();
      await proxy.close();
      await rm(storage, { recursive: true, force: true });
    },
  };
}
