// @engines sqlite, needs npm: it compiles, and uses no database
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGES } from '../tools/scripts/packages.ts';
import { SCALE } from './support/scale.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
/** The compiler of this repository, and an older one that a development dependency installs. */
const COMPILERS = {
  7: path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  5: createRequire(require.resolve('@arethetypeswrong/core/package.json')).resolve(
    'typescript/lib/tsc.js',
  ),
} as const;

let folder: string;
/** What `npm publish` would upload, by package name: the archive and its contents. */
const packed = new Map<string, { readonly tarball: string; readonly directory: string }>();
let dependencies: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-types-'));
  const args = ['pack', '--workspaces', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: root });
  const found = JSON.parse(stdout) as readonly {
    readonly name: string;
    readonly filename: string;
  }[];
  const needed = new Set<string>();
  for (const { name, filename } of found) {
    const directory = path.join(folder, 'packed', name);
    await mkdir(directory, { recursive: true });
    await run('tar', ['xzf', path.join(folder, filename), '--strip-components=1', '-C', directory]);
    packed.set(name, { tarball: path.join(folder, filename), directory });
    const manifest = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8')) as {
      readonly dependencies?: Record<string, string>;
    };
    for (const each of Object.keys(manifest.dependencies ?? {})) needed.add(each);
  }
  // The application must install Node's types itself, as getting started says.
  dependencies = [...needed, '@types/node'].filter((each) => !packed.has(each));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * A new application with Portico, its dependencies, and only these other packages. `name=other` is
 * a package that this repository has installed under another name.
 */
async function application(
  name: string,
  installed: readonly string[],
  files: Readonly<Record<string, string>>,
  type: 'module' | 'commonjs' = 'module',
): Promise<string> {
  const own = path.join(folder, name);
  const modules = path.join(own, 'node_modules');
  for (const [each, { directory }] of packed)
    await cp(directory, path.join(modules, each), { recursive: true });
  for (const each of [...dependencies, ...installed]) {
    const [own = '', from = own] = each.split('=');
    await mkdir(path.join(modules, path.dirname(own)), { recursive: true });
    await symlink(path.join(root, 'node_modules', from), path.join(modules, own));
  }
  const manifest = JSON.stringify({ name, private: true, type });
  for (const [file, text] of Object.entries({ ...files, 'package.json': manifest }))
    await writeFile(path.join(own, file), text);
  return own;
}

/** The output of the compiler. */
async function compile(cwd: string, version: keyof typeof COMPILERS = 7): Promise<string> {
  try {
    // One checker needs half the processor time of four.
    const options = version === 7 ? ['--checkers', '1'] : [];
    return (await run(process.execPath, [COMPILERS[version], '-p', '.', ...options], { cwd }))
      .stdout;
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? String(error);
  }
}

/**
 * The strictest options of `tsc --init` in TypeScript 7, with libraries checked, and without a
 * browser's types.
 */
const STRICT = JSON.stringify({
  compilerOptions: {
    module: 'nodenext',
    target: 'esnext',
    lib: ['esnext'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    experimentalDecorators: true,
    noEmit: true,
    skipLibCheck: false,
  },
});

const RESOURCE = `
  const resource = createResourceServer({ issuer: 'https://as.example', clientId: 'id', clientSecret: 's', audience: null });
`;

/**
 * An application that uses values, classes and types from both module systems. Each exists only
 * once.
 */
const COMMON_JS = `
  import express from 'express';
  import { bearer, portico } from 'portico/express';
  import { HttpError } from '@portico/kit';
  import { ConfigurationError } from 'portico';
  import { BearerError, token, type AuthorizationServer } from 'portico';
  export const mount = (server: AuthorizationServer) => express().use(portico(server)).use(bearer(server));
  export const problems = (error: ConfigurationError) => error.problems.map(({ key }) => key);
  export const refused = (error: unknown): HttpError | BearerError | null =>
    error instanceof HttpError || error instanceof BearerError ? error : null;
  const server = import('portico');
  void server.then((module) => {
    const same: typeof token = module.token;
    const error: BearerError = null as unknown as InstanceType<typeof module.BearerError>;
    console.log(same === token && error === null ? 'one' : 'two');
  });
`;

/** Entries that need no framework, each used as a whole, so that all types are checked. */
const FRAMEWORKLESS = [
  '@portico/sql',
  'portico',
  'portico/extension',
  'portico/fetch',
  'portico/node',
  '@portico/kit',
  '@portico/admin',
  '@portico/import',
  '@portico/mcp',
  'create-portico',
  '@portico/assistant',
  '@portico/resource-server',
];
const fileOf = (entry: string) => `${entry.replaceAll(/[@/]/g, '_')}.ts`;

/**
 * The packages that an application has installed besides Portico, and the entries that it can use
 * with them.
 */
const APPLICATIONS: readonly (readonly [
  name: string,
  installed: readonly string[],
  files: Readonly<Record<string, string>>,
])[] = [
  [
    'no framework',
    [],
    Object.fromEntries(
      FRAMEWORKLESS.map((entry) => [
        fileOf(entry),
        `import * as all from '${entry}';\nexport const names = Object.keys(all);`,
      ]),
    ),
  ],
  [
    'OpenTelemetry',
    ['@opentelemetry/api'],
    {
      'telemetry.ts': `
        import type { AuthorizationServerOptions } from 'portico';
        import { opentelemetry } from 'portico/telemetry';
        export const telemetry: AuthorizationServerOptions['telemetry'] = opentelemetry({ traces: false });`,
    },
  ],
  [
    'Express',
    ['express', '@types/express'],
    {
      'express.ts': `
        import express from 'express';
        import { bearer, bearerErrors, portico } from 'portico/express';
        import type { AuthorizationServer } from 'portico';
        export const mount = (server: AuthorizationServer) =>
          express().use(portico(server)).use('/api', bearer(server)).use(bearerErrors());`,
      'resource-server.ts': `
        import express, { type Response } from 'express';
        import { createResourceServer, expressGuard, tokenOf } from '@portico/resource-server';
        ${RESOURCE}
        export const guards: express.RequestHandler[] = [expressGuard(resource, 'a')];
        export const app = express()
          .get('/orders/:id', expressGuard(resource, 'orders:read'), (req, res: Response<{ id: string }>) => {
            res.json({ id: req.params.id + tokenOf(req).clientId });
          });`,
    },
  ],
  [
    'Express with the types of Express 4',
    ['express=express-4', '@types/express=@types/express-4'],
    {
      'express.ts': `
        import express, { type Request } from 'express';
        import { bearer, bearerErrors, portico } from 'portico/express';
        import { oauthServer, type AuthorizationServer, type Host } from 'portico';
        export const host: Host<Request> = {
          signedIn: async (_, req) => ({ provider: 'users', id: req.params['id'] ?? '' }),
          loadAccount: async () => null,
          holdsPermission: async () => false,
          loginUrl: '/login',
        };
        export const plugin = oauthServer({ host });
        export const mount = (server: AuthorizationServer) =>
          express().use(portico(server)).use('/api', bearer(server)).use(bearerErrors());`,
      'resource-server.ts': `
        import express from 'express';
        import { createResourceServer, expressGuard, tokenOf } from '@portico/resource-server';
        ${RESOURCE}
        export const app = express().get('/orders', expressGuard(resource, 'orders:read'), (req, res) => {
          res.json({ id: tokenOf(req).clientId });
        });`,
    },
  ],
  [
    'Fastify',
    ['fastify'],
    {
      'fastify.ts': `
        import fastify from 'fastify';
        import { bearer, bearerErrors, portico } from 'portico/fastify';
        import type { AuthorizationServer } from 'portico';
        export async function mount(server: AuthorizationServer) {
          const app = fastify();
          await app.register(portico(server));
          app.addHook('onRequest', bearer(server));
          app.setErrorHandler(bearerErrors);
        }`,
      'resource-server.ts': `
        import fastify from 'fastify';
        import { createResourceServer, fastifyGuard, tokenOf } from '@portico/resource-server';
        ${RESOURCE}
        const onRequest = fastifyGuard(resource, 'orders:read');
        export const app = fastify().get<{ Params: { id: string } }>('/orders/:id', { onRequest }, (request) => ({
          id: request.params.id + tokenOf(request).clientId,
        }));`,
    },
  ],
  [
    'Nest',
    ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'],
    {
      'nest.ts': `
        import { Controller, Get, Module, UseGuards } from '@nestjs/common';
        import { CurrentToken, PorticoGuard, PorticoModule, RequireScope } from 'portico/nest';
        import type { AuthorizationServer, TokenAccessor } from 'portico';
        @Controller('orders')
        @UseGuards(PorticoGuard)
        export class Orders {
          @Get()
          @RequireScope('orders:read')
          list(@CurrentToken() token: TokenAccessor) {
            return token.clientId();
          }
        }
        class Settings {
          declare readonly server: AuthorizationServer;
        }
        @Module({
          imports: [
            PorticoModule.forRootAsync({
              inject: [Settings],
              useFactory: async ({ server }: Settings) => ({ server, more: [server] }),
            }),
          ],
        })
        export class App {}`,
    },
  ],
  [
    'Next',
    [],
    {
      'next.ts': `
        import { portico } from 'portico/next';
        import { token, type AuthorizationServer } from 'portico';
        declare const server: AuthorizationServer;
        export const { handlers, withToken } = portico(async () => [server, server]);
        export const { GET, POST } = handlers;
        export const orders = (request: Request) => withToken(request, async () => Response.json(token().clientId()));
        export const action = (headers: Headers): Promise<string | null> => withToken(headers, () => token().clientId());`,
    },
  ],
  [
    'Koa',
    ['koa', '@types/koa'],
    {
      'koa.ts': `
        import Koa from 'koa';
        import { bearer, portico } from 'portico/koa';
        import type { AuthorizationServer } from 'portico';
        export const mount = (server: AuthorizationServer) =>
          new Koa<{ user?: string }>().use(portico(server)).use(bearer(server));`,
      // Koa's own types do not compile next to a content-disposition that ships types itself.
      'tsconfig.json': STRICT.replace('"skipLibCheck":false', '"skipLibCheck":true'),
    },
  ],
  [
    'Hono',
    [],
    {
      'hono.ts': `
        import { Hono } from 'hono';
        import { bearer, bearerErrors, portico } from 'portico/hono';
        import type { AuthorizationServer } from 'portico';
        export const mount = (server: AuthorizationServer) =>
          new Hono<{ Variables: { user: string } }>()
            .use(portico(server))
            .use('/api/*', bearer(server))
            .onError(bearerErrors((_, c) => c.text('Something went wrong', 500)));`,
      'resource-server.ts': `
        import { Hono } from 'hono';
        import { createResourceServer, honoGuard, tokenOf } from '@portico/resource-server';
        ${RESOURCE}
        export const app = new Hono().get('/orders/:id', honoGuard(resource, 'orders:read'), (context) =>
          context.json({ id: context.req.param('id') + tokenOf(context.req.raw).clientId }),
        );`,
    },
  ],
];

const entries = PACKAGES.flatMap((each) =>
  each.entries.map((entry) => entry.name.replace(/^\./, each.name)),
);

describe('the packed package', () => {
  // @shows HOST-5.1
  test.each(APPLICATIONS.slice(0, SCALE.compiledApplications))(
    'compiles without skipLibCheck if %s is installed',
    async (name, installed, files) => {
      expect(
        await compile(await application(name, installed, { 'tsconfig.json': STRICT, ...files })),
      ).toBe('');
    },
  );

  test('has no entry point that these tests do not compile', () => {
    const sources = APPLICATIONS.flatMap(([, , files]) => Object.values(files)).join('\n');
    expect(entries.filter((entry) => !sources.includes(`from '${entry}'`))).toEqual([]);
  });

  test.each(PACKAGES)('$name passes publint and @arethetypeswrong/cli', async (each) => {
    const tarball = packed.get(each.name)?.tarball ?? '';
    const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);
    const linted = await run(bin('publint'), ['--strict', tarball]);
    expect(linted.stdout).toContain('All good!');
    // The report names every file: more than Node's default of 1 MiB.
    const { stdout } = await run(bin('attw'), [tarball, '--format', 'json'], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const { analysis } = JSON.parse(stdout) as {
      readonly analysis: { readonly entrypoints: object; readonly problems: readonly unknown[] };
    };
    expect(Object.keys(analysis.entrypoints)).toEqual(
      expect.arrayContaining(each.entries.map(({ name }) => name)),
    );
    expect(analysis.problems).toEqual([]);
  });

  /**
   * Entries of frameworks whose own types do not compile with `skipLibCheck` off: Hono's with this
   * TypeScript 5, and Koa's with any version if `content-disposition` ships its own types.
   */
  const UNREADABLE: Readonly<Record<keyof typeof COMPILERS, readonly string[]>> = {
    5: ['portico/hono', 'portico/koa'],
    7: ['portico/koa'],
  };
  /**
   * The ways to compile an application to CommonJS. The first is the fastest, the second reports
   * TS2307 without `typesVersions`, and the third reports TS1479 without stubs.
   */
  const MODES = [
    [7, 'commonjs', 'bundler'],
    [5, 'commonjs', 'node10'],
    [5, 'node16', 'node16'],
    [5, 'nodenext', 'nodenext'],
    [7, 'nodenext', 'nodenext'],
    [7, 'node20', 'node16'],
  ] as const;
  test.each(MODES.slice(0, SCALE.commonJsModes))(
    'compiles to CommonJS with TypeScript %i, module %s and moduleResolution %s, and runs',
    async (version, module, moduleResolution) => {
      const sources = Object.fromEntries(
        entries
          .filter((entry) => !UNREADABLE[version].includes(entry))
          .map((entry) => [
            fileOf(entry),
            `import * as all from '${entry}';\nexport const names = Object.keys(all);`,
          ]),
      );
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'es2022',
        strict: true,
        esModuleInterop: true,
        types: [],
        rootDir: '.',
        outDir: 'out',
        skipLibCheck: false,
      };
      const files = {
        ...sources,
        'app.ts': COMMON_JS,
        'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      };
      const installed = [...new Set(APPLICATIONS.flatMap(([, each]) => each))].filter(
        (each) => !each.includes('='),
      );
      const own = await application(
        `${version} ${module} ${moduleResolution}`,
        installed,
        files,
        'commonjs',
      );
      expect(await compile(own, version)).toBe('');
      const { stdout, stderr } = await run(process.execPath, ['out/app.js'], { cwd: own });
      expect([stdout, stderr]).toEqual(['one\n', '']);
    },
  );

  /** The misspelt name, and what the compiler reports. */
  const MISSPELT: readonly (readonly [config: string, message: string])[] = [
    ["{ public_ur1: 'x' }", "'public_ur1' does not exist in type"],
    [
      "() => ({ log: {}, public_ur1: 'x' })",
      '"public_ur1 is not a known key of the configuration"',
    ],
    ['{ oauth_server: { acess_token_ttl: 1 } }', "Did you mean to write 'access_token_ttl'?"],
    [
      "(env) => ({ oauth_server: { name: env['N'], acess_token_ttl: 1 } })",
      '"oauth_server:acess_token_ttl is not a known key of the configuration"',
    ],
    [
      "() => { return { oauth_server: { scopes: { a: { label: 'A', permision: 'p' } } } }; }",
      '"oauth_server:scopes:a:permision is not a known key of the configuration"',
    ],
    ['() => ({ mcp: { transport: { steaming: true } } })', '{ readonly steaming: true; }'],
    [
      '() => ({ assistant: { account_linking: true, user_scope: [] } })',
      '"assistant:user_scope is not a known',
    ],
  ];
  test.each([7, 5] as const)(
    'reports a misspelled configuration key at compile time (TypeScript %i)',
    async (version) => {
      const lines = MISSPELT.map(
        ([config], index) =>
          `export const a${index} = defineApplication({ config: ${config}, plugins });`,
      );
      const source = `
      import { assistant } from '@portico/assistant';
      import { defineApplication } from '@portico/kit';
      import { mcp } from '@portico/mcp';
      import { oauthServer } from 'portico';
      const plugins = [oauthServer(), mcp(), assistant()] as const;
      ${lines.join('\n')}`;
      const settings = STRICT.replace('"skipLibCheck":false', '"skipLibCheck":true');
      const own = await application(`misspelt ${version}`, [], {
        'app.ts': source,
        'tsconfig.json': settings,
      });
      const said = (await compile(own, version)).split(/^(?=\S)/m);
      expect(said).toHaveLength(MISSPELT.length);
      for (const [index, [, message]] of MISSPELT.entries()) expect(said[index]).toContain(message);
    },
  );

  test('compiles app.ts from the getting started guide in a new folder, with its tsconfig.json', async () => {
    const started = await readFile(path.join(root, 'docs', 'getting-started.md'), 'utf8');
    const app = /```ts\n(\/\/ app\.ts\n.*?)```/s.exec(started)?.[1] ?? '';
    const settings = /```json\n(\{\s*"compilerOptions".*?)```/s.exec(started)?.[1] ?? '';
    expect(settings).toContain('erasableSyntaxOnly');
    expect(app).toContain('defineApplication');
    const own = await application('started', [], { 'app.ts': app, 'tsconfig.json': settings });
    expect(await compile(own)).toBe('');
    await writeFile(path.join(own, 'tsconfig.json'), STRICT);
    expect(await compile(own)).toBe('');
  });
});
