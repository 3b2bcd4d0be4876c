// @engines sqlite, needs systemd: it reads the files of examples/deploy
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as Yaml from 'yaml';
import { ConsoleHelp } from './support/console-help.ts';
import { ROOT } from './support/console.ts';
import { commandsOf } from './support/shell.ts';

const FOLDER = path.join(ROOT, 'examples', 'deploy');
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');

let folder: string;
let help: ConsoleHelp;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-deploy-files-'));
  help = await ConsoleHelp.ask(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** A container's workload, in the terms of Kubernetes. */
interface Container {
  readonly args: readonly string[];
  readonly image: string;
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly securityContext: unknown;
}

interface PodSpec {
  readonly automountServiceAccountToken: unknown;
  readonly securityContext: unknown;
  readonly containers: readonly Container[];
}

interface ComposeService {
  readonly command?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** The checked parts of Traefik's file. */
interface TraefikFile {
  readonly http: {
    readonly routers: Readonly<
      Record<string, { readonly middlewares: readonly string[]; readonly tls: unknown }>
    >;
    readonly middlewares: Readonly<Record<string, unknown>>;
    readonly services: Readonly<
      Record<string, { readonly loadBalancer: { readonly serversTransport?: string } }>
    >;
    readonly serversTransports: Readonly<
      Record<string, { readonly forwardingTimeouts: { readonly idleConnTimeout?: string } }>
    >;
  };
  readonly tls: { readonly options: unknown };
}

/** The parser that comes with the test tools. */
function documentsOf(file: string): readonly unknown[] {
  const inspector = createRequire(
    path.join(ROOT, 'node_modules/@modelcontextprotocol/inspector/package.json'),
  );
  const { parseAllDocuments } = inspector('yaml') as typeof Yaml;
  return parseAllDocuments(read(file)).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });
}

const MANIFESTS = globSync('kubernetes/*.yaml', { cwd: FOLDER });

/** Every `template.spec` with containers, anywhere in a document. */
function podSpecs(value: unknown): readonly PodSpec[] {
  if (typeof value !== 'object' || value === null) return [];
  return 'containers' in value ? [value as PodSpec] : Object.values(value).flatMap(podSpecs);
}

const pods = () => MANIFESTS.flatMap(documentsOf).flatMap(podSpecs);
const containers = () => pods().flatMap((pod) => pod.containers);

/** The services of the file for Docker Compose. */
function services(): Readonly<Record<string, ComposeService>> {
  const [file] = documentsOf('compose.yaml') as readonly ComposeFile[];
  return file?.services ?? {};
}

test('the deployment examples use only commands that exist in the console', async () => {
  const ofUnit = /^ExecStart=\S+ \S+ (.*)$/m.exec(read('portico.service'))?.[1]?.split(' ') ?? [];
  const ofImage = JSON.parse(
    /^CMD (\[.*\])$/m.exec(read('Containerfile'))?.[1] ?? '[]',
  ) as string[];
  const ofServices = Object.values(services()).flatMap(({ command = [] }) => [command]);
  const all = [ofUnit, ofImage, ...ofServices, ...containers().map(({ args }) => args)].filter(
    (words) => words.length > 0,
  );
  expect(all.map(([name]) => name)).toEqual(
    expect.arrayContaining(['serve', 'db:migrate', 'oauth:keys:rotate']),
  );
  expect(await Promise.all(all.map((words) => help.problemOf(words)))).toEqual(all.map(() => null));
});

test('the Traefik example uses TLS 1.3, or 1.2 with the suites of Caddy, and sends HSTS', () => {
  const [file] = documentsOf('traefik.yaml') as readonly TraefikFile[];
  const suites = /^\s*ciphers (.*)$/m.exec(read('Caddyfile'))?.[1]?.split(' ');
  expect(file?.tls.options).toEqual({
    portico: { minVersion: 'VersionTLS12', cipherSuites: suites },
  });
  for (const { middlewares, tls } of Object.values(file?.http.routers ?? {})) {
    expect(middlewares[0]).toBe('https-alone');
    expect(tls).toMatchObject({ options: 'portico' });
  }
  expect(file?.http.middlewares['https-alone']).toEqual({ headers: { stsSeconds: 31_536_000 } });
});

describe('the Docker Compose example', () => {
  test('passes a linter without a warning', () => {
    const linter = path.join(ROOT, 'node_modules', '.bin', 'dclint');
    const file = path.join(FOLDER, 'compose.yaml');
    const { status, stdout, stderr } = spawnSync(linter, ['--max-warnings', '0', file], {
      encoding: 'utf8',
    });
    expect([status, stdout.trim(), stderr]).toEqual([0, '', '']);
  });

  test('applies the migrations before the setup, and the setup before the process starts', () => {
    const conditions = Object.entries(services()).flatMap(([name, { depends_on: first = {} }]) =>
      Object.entries(first).map(([other, { condition }]) => [name, other, condition]),
    );
    expect(conditions.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))).toEqual([
      ['migrate', 'database', 'service_healthy'],
      ['portico', 'setup', 'service_completed_successfully'],
      ['setup', 'migrate', 'service_completed_successfully'],
    ]);
  });

  test('runs Portico without privileges, and opens only one port on the local machine', () => {
    const { database, ...own } = services();
    expect(database?.ports).toBeUndefined();
    for (const { read_only: isReadOnly, cap_drop: dropped } of Object.values(own))
      expect([isReadOnly, dropped]).toEqual([true, ['ALL']]);
    expect(Object.values(own).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8080:8080']);
  });
});

describe('the Kubernetes manifests', () => {
  test('run every container without privileges, with write access only to its mounts', () => {
    expect(pods().length).toBe(4);
    for (const pod of pods()) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65534,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  test('probe the right paths, and restart no container while the database is down', () => {
    const [serving] = containers().filter(({ args }) => args[0] === 'serve');
    expect(serving?.livenessProbe?.httpGet.path).toBe('/health/live');
    expect(serving?.readinessProbe?.httpGet.path).toBe('/health/ready');
  });

  test('use the same release in all containers', () => {
    expect(new Set(containers().map(({ image }) => image)).size).toBe(1);
  });
});

test('the container image runs as an unprivileged account, which owns its state', () => {
  const lines = read('Containerfile').split('\n');
  expect(lines.lastIndexOf('USER 65534:65534')).toBeGreaterThan(
    lines.findLastIndex((line) => line.startsWith('COPY')),
  );
  expect(lines).toContain('RUN install -d -o 65534 -g 65534 -m 0700 /var/lib/portico');
  const [, probe = '[]'] = /^HEALTHCHECK[^[]*CMD (\[.*\])$/m.exec(read('Containerfile')) ?? [];
  const [program, flag, code = ''] = JSON.parse(probe) as string[];
  expect([program, flag]).toEqual(['node', '-e']);
  // No process listens there.
  const { status } = spawnSync(process.execPath, ['-e', code.replace(':8080', ':1')]);
  expect(status).toBe(1);
});

test('systemd accepts every line of the unit, and rates its exposure as low', async () => {
  const file = path.join(folder, 'portico.service');
  await writeFile(file, read('portico.service').replace('/usr/bin/node', process.execPath));
  const analyze = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], {
      encoding: 'utf8',
    });
    return { status, said: status === 0 ? stderr : `${stdout}${stderr}` };
  };
  expect(analyze('verify', '--man=no')).toEqual({ status: 0, said: '' });
  // In tenths: 9.6 is a unit without settings, and below 2 is "OK".
  expect(analyze('security', '--offline=true', '--no-pager', '--threshold=20')).toMatchObject({
    status: 0,
  });
});

describe('the scheduled commands', () => {
  const settingOf = (file: string, name: string) =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(read(file))?.[1] ?? `${file} has no ${name}`;
  /** From the unit that serves. */
  const serving = (name: string) => settingOf('portico.service', name);

  test('run with a systemd timer as the serving account, with its folder and variables', async () => {
    for (const name of [
      'User',
      'Group',
      'WorkingDirectory',
      'EnvironmentFile',
      'Environment',
      'StateDirectory',
    ])
      expect(settingOf('portico-keys.service', name)).toBe(serving(name));
    const [, , ...words] = settingOf('portico-keys.service', 'ExecStart').split(' ');
    expect(words).toEqual(expect.arrayContaining(['--app', 'oauth:keys:rotate']));
    expect(await help.problemOf(words)).toBeNull();
    const files = ['portico-keys.service', 'portico-keys.timer'].map((name) =>
      path.join(folder, name),
    );
    for (const file of files)
      await writeFile(file, read(path.basename(file)).replace('/usr/bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  test('run with cron as the serving account: each line has the account column', async () => {
    const lines = read('portico.cron')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const [variables, jobs] = [true, false].map((is) =>
      lines.filter((line) => /^[A-Z_]+=/.test(line) === is),
    );
    expect(variables).toEqual(expect.arrayContaining(serving('Environment').split(' ')));
    for (const job of jobs ?? []) {
      const [, account, command = ''] = /^(?:[\d*]+ ){5}(\S+) (.*)$/.exec(job) ?? [];
      expect([account, job]).toEqual([serving('User'), job]);
      const [entering, run, ...more] = commandsOf(command).map(({ words }) => words);
      expect([entering, more]).toEqual([['cd', serving('WorkingDirectory')], []]);
      expect(run?.slice(0, 3)).toEqual(['npx', 'portico', '--app']);
      expect(await help.problemOf(run?.slice(2) ?? [])).toBeNull();
    }
    expect(jobs).toHaveLength(2);
  });
});

test('the Traefik example closes an idle connection before Node does', () => {
  const [file] = documentsOf('traefik.yaml') as readonly TraefikFile[];
  const { serversTransport = '' } = file?.http.services['portico']?.loadBalancer ?? {};
  const { idleConnTimeout = '' } =
    file?.http.serversTransports[serversTransport]?.forwardingTimeouts ?? {};
  expect(idleConnTimeout).toMatch(/^\d+s$/);
  const node = createServer();
  expect(Number.parseInt(idleConnTimeout, 10) * 1000).toBeLessThan(node.keepAliveTimeout);
});
test('the Traefik example is valid YAML, and routes to one service', () => {
  expect(documentsOf('traefik.yaml')).toMatchObject([
    { http: { routers: { portico: { service: 'portico' } }, services: { portico: {} } } },
  ]);
});
