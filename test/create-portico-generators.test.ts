// @engines sqlite, needs npm: it runs generators of other projects, and installs the applications
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import {
  clientIn,
  createUsers,
  linesToAdd,
  read,
  runCodeFlow,
  startProgram,
  USERS,
  write,
} from './support/created-application.ts';
import { freePort } from './support/free-port.ts';

/** The generators, and the packages of the application without a generator on npm. */
const VERSIONS = {
  'create-next-app': '16.4.3',
  '@nestjs/cli': '12.0.8',
  sv: '0.17.1',
  'express-generator': '4.16.1',
  'fastify-cli': '8.0.2',
  express: '^4.22.3',
  hono: '^4.13.19',
  '@hono/node-server': '^2.1.8',
} as const;

interface Generated {
  /** The generator, and its arguments. Null if the files are below. */
  readonly generator: readonly [keyof typeof VERSIONS, ...string[]] | null;
  /** Corrects files of the generator that do not work without Portico either. */
  readonly correct?: (folder: string) => void;
  /** What a person edits: the printed lines, and a sign-in page that asks for no password. */
  readonly edit: (folder: string, lines: readonly string[]) => void;
  readonly build: readonly string[] | null;
  readonly start: (port: number) => readonly string[];
}

const SIGNS_IN = `{
  status: 303,
  headers: {
    'Set-Cookie': beginSession('7'),
    Location: returnPath(new URL(request.url).searchParams.get('return_to')),
  },
}`;

/** Replaces parts of a file. Each part must be there. */
function change(folder: string, file: string, parts: readonly (readonly [string, string])[]): void {
  let text = read(folder, file);
  for (const [before, after] of parts) {
    expect(text).toContain(before);
    text = text.replace(before, () => after);
  }
  write(folder, { [file]: text });
}

const APPLICATIONS: Readonly<Record<string, Generated>> = {
  'create-next-app': {
    generator: [
      'create-next-app',
      'app',
      '--yes',
      '--ts',
      '--app',
      '--no-eslint',
      '--no-tailwind',
      '--skip-install',
      '--disable-git',
    ],
    edit(folder) {
      write(folder, {
        // The layout of the generator loads fonts from Google during the build, which needs the
        // internet.
        'app/layout.tsx': `export default function Layout({ children }: { children: React.ReactNode }) {
          return <html lang="en"><body>{children}</body></html>;
        }`,
        'app/login/route.ts': `import { returnPath } from 'portico';
          import { beginSession } from '../../lib/portico-session';
          export const GET = (request: Request) => new Response(null, ${SIGNS_IN});`,
      });
    },
    build: ['npm', 'run', 'build'],
    start: (port) => [
      process.execPath,
      'node_modules/next/dist/bin/next',
      'start',
      '-p',
      String(port),
    ],
  },
  'nest new': {
    generator: ['@nestjs/cli', 'new', 'app', '--skip-install', '--skip-git', '-p', 'npm'],
    edit(folder, [first, second, third]) {
      change(folder, 'src/app.module.ts', [
        [
          "import { Module } from '@nestjs/common';",
          `import { Module } from '@nestjs/common';\n${first}\n${second}`,
        ],
        ['imports: []', `imports: [\n${third}\n]`],
      ]);
      write(folder, {
        'src/app.controller.ts': `import { Controller, Get, Query, Res } from '@nestjs/common';
          import type { Response } from 'express';
          import { returnPath } from 'portico';
          import { beginSession } from './portico-session.js';
          @Controller()
          export class AppController {
            @Get('login')
            login(@Query('return_to') returnTo: string, @Res() response: Response) {
              response.setHeader('Set-Cookie', beginSession('7'));
              response.redirect(303, returnPath(returnTo));
            }
          }`,
      });
      rmSync(path.join(folder, 'src/app.controller.spec.ts'));
    },
    build: ['npm', 'run', 'build'],
    start: () => [process.execPath, 'dist/main'],
  },
  'sv create': {
    generator: [
      'sv',
      'create',
      'app',
      '--template',
      'minimal',
      '--types',
      'ts',
      '--no-add-ons',
      '--no-install',
    ],
    edit(folder, [csrf, adapter]) {
      change(folder, 'vite.config.ts', [
        ["import adapter from '@sveltejs/adapter-auto';", adapter ?? ''],
        ['sveltekit({', `sveltekit({\n${csrf}`],
      ]);
      write(folder, {
        'src/routes/login/+server.ts': `import { returnPath } from 'portico';
          import { beginSession } from '../../lib/server/portico-session.ts';
          export const GET = ({ request }: { request: Request }) => new Response(null, ${SIGNS_IN});`,
      });
    },
    build: ['npm', 'run', 'build'],
    start: () => [process.execPath, 'build'],
  },
  'express-generator': {
    generator: ['express-generator', '--no-view', 'app'],
    // Portico needs Express 4.17 or later.
    correct: (folder) => change(folder, 'package.json', [['~4.16.1', VERSIONS.express]]),
    edit(folder, lines) {
      change(folder, 'app.js', [
        [
          "app.use('/', indexRouter);",
          `${lines.join('\n')}
          app.get('/login', (req, res) => {
            res.setHeader('Set-Cookie', require('./portico-session.mjs').beginSession('7'));
            res.redirect(303, require('portico').returnPath(req.query.return_to));
          });
          app.use('/', indexRouter);`,
        ],
      ]);
    },
    build: null,
    start: () => [process.execPath, 'bin/www'],
  },
  'fastify-cli generate': {
    generator: ['fastify-cli', 'generate', 'app', '--lang=ts', '--esm'],
    // The generator's TypeScript 6 requires this.
    correct: (folder) =>
      change(folder, 'tsconfig.json', [['"outDir"', '"rootDir": "src",\n    "outDir"']]),
    edit(folder, [first, second, call]) {
      change(folder, 'src/app.ts', [
        [
          "import * as path from 'node:path'",
          `import * as path from 'node:path'\n${first}\n${second}\nimport { returnPath } from 'portico'\nimport { beginSession } from './portico-session.ts'`,
        ],
        [
          '// Place here your custom code!',
          `${call}
          fastify.get<{ Querystring: { return_to: string } }>('/login', (request, reply) =>
            reply.header('Set-Cookie', beginSession('7')).redirect(returnPath(request.query.return_to), 303))`,
        ],
      ]);
    },
    build: ['npm', 'run', 'build:ts'],
    start: (port) => [
      process.execPath,
      'node_modules/fastify-cli/cli.js',
      'start',
      '-p',
      String(port),
      'dist/app.js',
    ],
  },
  // create-hono downloads its templates from GitHub, so the files are here.
  'a new Hono application': {
    generator: null,
    edit(folder, [first, second, call]) {
      change(folder, 'src/index.ts', [
        [
          "import { Hono } from 'hono';",
          `import { Hono } from 'hono';\n${first}\n${second}\nimport { returnPath } from 'portico';\nimport { beginSession } from './portico-session.js';`,
        ],
        [
          'const app = new Hono();',
          `const app = new Hono();
          ${call}
          app.get('/login', (c) => {
            c.header('Set-Cookie', beginSession('7'));
            return c.redirect(returnPath(c.req.query('return_to') ?? null), 303);
          });`,
        ],
      ]);
    },
    build: ['npx', 'tsc'],
    start: () => [process.execPath, 'dist/index.js'],
  },
};

const HONO = {
  'package.json': {
    name: 'app',
    type: 'module',
    dependencies: { hono: VERSIONS.hono, '@hono/node-server': VERSIONS['@hono/node-server'] },
    devDependencies: { typescript: '^5.8.0', '@types/node': '^24.0.0' },
  },
  'tsconfig.json': {
    compilerOptions: {
      target: 'ESNext',
      module: 'NodeNext',
      strict: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
      types: ['node'],
      outDir: './dist',
    },
    include: ['src'],
  },
  'src/index.ts': `import { serve } from '@hono/node-server';
    import { Hono } from 'hono';
    const app = new Hono();
    app.get('/', (c) => c.text('Hello'));
    serve({ fetch: app.fetch, port: Number(process.env.PORT) });`,
};

let root: string;
let packages: string;
let program: string;

/** The environment of a terminal: without the variables of the npm that runs this test. */
const ENV = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_ENV|VITEST)/.test(name)),
  ),
  PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
  NEXT_TELEMETRY_DISABLED: '1',
  CI: '1',
};

async function run(cwd: string, [name = '', ...args]: readonly string[]): Promise<string> {
  const running = promisify(execFile)(name, args, { cwd, env: ENV, maxBuffer: 1e8 });
  running.child.stdin?.end();
  return (
    await running.catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${name} ${args.join(' ')} failed:\n${error.stdout}\n${error.stderr}`);
    })
  ).stdout;
}

beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'portico-generators-'));
  packages = path.join(root, 'packages');
  mkdirSync(packages);
  await run(ROOT, [
    'npm',
    'pack',
    '--workspaces',
    '--ignore-scripts',
    '--pack-destination',
    packages,
  ]);
  const tarball = readdirSync(packages).find((name) => name.startsWith('create-portico-')) ?? '';
  await run(packages, ['tar', 'xzf', tarball]);
  program = path.join(packages, 'package', 'bin', 'create-portico.js');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each(Object.entries(APPLICATIONS))(
  'the packed program adds Portico to a generated application, which then issues a token: %s',
  async (name, { generator, correct, edit, build, start }) => {
    const parent = path.join(root, name.replaceAll(' ', '-'));
    const folder = path.join(parent, 'app');
    mkdirSync(parent);
    if (generator === null) write(folder, HONO);
    else {
      const [tool, ...args] = generator;
      await run(parent, [
        'npx',
        '--yes',
        `--package=${tool}@${VERSIONS[tool]}`,
        binaryOf(tool),
        ...args,
      ]);
    }
    correct?.(folder);
    createUsers(path.join(folder, 'data.sqlite'));
    const port = await freePort();
    const url = `http://localhost:${port}`;
    await run(folder, ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline']);
    const stdout = await run(folder, [
      process.execPath,
      program,
      '--yes',
      `--portico=${packages}`,
      `--url=${url}`,
      ...USERS,
    ]);
    edit(folder, linesToAdd(stdout).flat());
    if (build !== null) await run(folder, build);

    const running = await startProgram(folder, start(port), url, { ...ENV, PORT: String(port) });
    const { claims } = await runCodeFlow(url, clientIn(stdout), 'openid profile data:read');
    expect(claims).toMatchObject({ name: 'Ada Lovelace' });
    await running.stop();

    const again = await run(folder, [
      process.execPath,
      program,
      '--yes',
      `--portico=${packages}`,
      `--url=${url}`,
      ...USERS,
    ]);
    expect(again).toContain('nothing to write');
    expect(again).not.toContain('client id:');
  },
);

/** The name of the program of a package: its only one, or `nest` and `fastify`. */
const binaryOf = (tool: string): string =>
  ({ '@nestjs/cli': 'nest', 'fastify-cli': 'fastify', 'express-generator': 'express' })[tool] ??
  tool;
