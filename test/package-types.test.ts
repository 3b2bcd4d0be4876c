// @engines sqlite: it compiles, and asks no database
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCALE } from './support/scale.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const COMPILER = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');

let folder: string;
/** What `npm publish` would upload, unpacked. */
let packed: string;
let dependencies: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-types-'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('tar', ['xzf', filename], { cwd: folder });
  packed = path.join(folder, 'package');
  const manifest = await readFile(path.join(packed, 'package.json'), 'utf8');
  dependencies = Object.keys((JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A new application with Portico, its dependencies, and only these packages besides. */
async function application(
  name: string,
  installed: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const own = path.join(folder, name);
  const modules = path.join(own, 'node_modules');
  await cp(packed, path.join(modules, 'portico'), { recursive: true });
  for (const each of ['@types/node', ...dependencies, ...installed]) {
    await mkdir(path.join(modules, path.dirname(each)), { recursive: true });
    await symlink(path.join(root, 'node_modules', each), path.join(modules, each));
  }
  const manifest = JSON.stringify({ name, private: true, type: 'module' });
  for (const [file, text] of Object.entries({ ...files, 'package.json': manifest }))
    await writeFile(path.join(own, file), text);
  return own;
}

/** The output of the compiler. */
async function compile(cwd: string): Promise<string> {
  try {
    return (await run(process.execPath, [COMPILER, '-p', '.'], { cwd })).stdout;
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? String(error);
  }
}

/** The strictest that `tsc --init` of TypeScript 7 offers, with libraries checked, and without a browser's types. */
const STRICT = JSON.stringify({
  compilerOptions: {
    module: 'nodenext',
    target: 'esnext',
    lib: ['esnext'],
    types: ['node'],
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

/** Entries that need no framework, each used as a whole, so that all types are checked. */
const FRAMEWORKLESS = ['host', 'oauth-server', 'mcp', 'assistant', 'fetch', 'node', 'resource-server'];

/** What an application has installed besides Portico, and the entries that it can use with it. */
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
        `${entry}.ts`,
        `import * as all from 'portico/${entry}';\nexport const names = Object.keys(all);`,
      ]),
    ),
  ],
  [
    'Express',
    ['express', '@types/express'],
    {
      'express.ts': `
        import express from 'express';
        import { bearer, bearerErrors, portico } from 'portico/express';
        import type { AuthorizationServer } from 'portico/oauth-server';
        export const mount = (server: AuthorizationServer) =>
          express().use(portico(server)).use('/api', bearer(server)).use(bearerErrors());`,
      'resource-server.ts': `
        import express, { type Response } from 'express';
        import { createResourceServer, expressGuard, tokenOf } from 'portico/resource-server';
        ${RESOURCE}
        export const guards: express.RequestHandler[] = [expressGuard(resource, 'a')];
        export const app = express()
          .get('/orders/:id', expressGuard(resource, 'orders:read'), (req, res: Response<{ id: string }>) => {
            res.json({ id: req.params.id + tokenOf(req).clientId });
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
        import type { AuthorizationServer } from 'portico/oauth-server';
        export async function mount(server: AuthorizationServer) {
          const app = fastify();
          await app.register(portico(server));
          app.addHook('onRequest', bearer(server));
          app.setErrorHandler(bearerErrors);
        }`,
      'resource-server.ts': `
        import fastify from 'fastify';
        import { createResourceServer, fastifyGuard, tokenOf } from 'portico/resource-server';
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
        import type { AuthorizationServer, TokenAccessor } from 'portico/oauth-server';
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
        import { token, type AuthorizationServer } from 'portico/oauth-server';
        declare const server: AuthorizationServer;
        export const { handlers, withToken } = portico(async () => [server, server]);
        export const { GET, POST } = handlers;
        export const orders = (request: Request) => withToken(request, async () => Response.json(token().clientId()));
        export const action = (headers: Headers): Promise<string | null> => withToken(headers, () => token().clientId());`,
    },
  ],
  [
    'Hono',
    [],
    {
      'resource-server.ts': `
        import { Hono } from 'hono';
        import { createResourceServer, honoGuard, tokenOf } from 'portico/resource-server';
        ${RESOURCE}
        export const app = new Hono().get('/orders/:id', honoGuard(resource, 'orders:read'), (context) =>
          context.json({ id: context.req.param('id') + tokenOf(context.req.raw).clientId }),
        );`,
    },
  ],
];

describe('the packed package', () => {
  // @shows HOST-5.1
  test.each(APPLICATIONS.slice(0, SCALE.compiledApplications))(
    'compiles with libraries checked where %s is installed',
    async (name, installed, files) => {
      expect(await compile(await application(name, installed, { ...files, 'tsconfig.json': STRICT }))).toBe(
        '',
      );
    },
  );

  test('has no entry that is not compiled here', async () => {
    const manifest = await readFile(path.join(packed, 'package.json'), 'utf8');
    const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
    const sources = APPLICATIONS.flatMap(([, , files]) => Object.values(files)).join('\n');
    const entries = Object.keys(exports).filter((each) => each !== './package.json');
    expect(entries.filter((entry) => !sources.includes(`from '${entry.replace('.', 'portico')}'`))).toEqual(
      [],
    );
  });

  test("compiles the README's app.ts in a new folder, with the README's tsconfig.json", async () => {
    const readme = await readFile(path.join(root, 'README.md'), 'utf8');
    const app = /```ts\n(\/\/ app\.ts\n.*?)```/s.exec(readme)?.[1] ?? '';
    const settings = /```json\n(\{\s*"compilerOptions".*?)```/s.exec(readme)?.[1] ?? '';
    expect(app).toContain('defineApplication');
    const own = await application('readme', [], { 'app.ts': app, 'tsconfig.json': settings });
    expect(await compile(own)).toBe('');
    await writeFile(path.join(own, 'tsconfig.json'), STRICT);
    expect(await compile(own)).toBe('');
  });
});
