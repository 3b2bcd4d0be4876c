// @engines sqlite: it writes applications, and starts some of them on SQLite
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { detect, type Detected } from '../packages/create-portico/src/detect.ts';
import { FRAMEWORKS, NEW_FRAMEWORKS } from '../packages/create-portico/src/frameworks.ts';
import { ROOT } from './support/console.ts';
import {
  clientIn,
  create,
  createUsers,
  linesToAdd,
  link,
  read,
  runCodeFlow,
  startProgram,
  REDIRECT,
  USERS,
  write,
} from './support/created-application.ts';
import { freePort } from './support/free-port.ts';
import { CHALLENGE } from './support/portal.ts';
import { RUNS_ALL, waysOf } from './support/scale.ts';
import { createVisitor } from './support/visitor.ts';

let root: string;
let count = 0;
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'portico-create-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Creates a folder with these files. */
function folderWith(files: Readonly<Record<string, string | object>> = {}): string {
  const folder = path.join(root, `application-${(count += 1)}`);
  mkdirSync(folder);
  write(folder, files);
  return folder;
}

/** Every file in a folder by path, without what Portico itself stores. */
function contents(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/^(?:node_modules|storage|logs)\b/.test(file));
  return Object.fromEntries(files.toSorted().map((file) => [file, read(folder, file)]));
}

const using = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, '^5.0.0']));
const EXPRESS = {
  'package.json': { name: 'shop', type: 'module', dependencies: using('express') },
};

describe('the detection of create-portico', () => {
  test.each<[string, Record<string, string | object>, Partial<Detected>]>([
    [
      'Express 4 in CommonJS',
      { 'package.json': { dependencies: { express: '^4.21.0' } } },
      { framework: 'express', major: 4, modules: 'commonjs', language: 'javascript' },
    ],
    [
      'Express 5 with passport',
      {
        'package.json': {
          type: 'module',
          dependencies: using('express', 'express-session', 'passport'),
        },
      },
      { framework: 'express', major: 5, modules: 'esm', session: 'passport' },
    ],
    [
      'Fastify with pnpm',
      {
        'package.json': { dependencies: using('fastify', '@fastify/session') },
        'pnpm-lock.yaml': '',
      },
      { framework: 'fastify', packageManager: 'pnpm', session: '@fastify/session' },
    ],
    [
      'Hono with Drizzle',
      { 'package.json': { dependencies: using('hono', 'drizzle-orm', 'pg') } },
      { framework: 'hono', database: 'drizzle-orm', session: null },
    ],
    [
      'Koa with yarn',
      { 'package.json': { dependencies: using('koa') }, 'yarn.lock': '' },
      { framework: 'koa', packageManager: 'yarn' },
    ],
    [
      'Nest before Express',
      {
        'package.json': { dependencies: using('express', '@nestjs/core', 'pg') },
        'tsconfig.json': '{}',
      },
      { framework: 'nest', language: 'typescript', database: 'pg' },
    ],
    [
      'Next, with .env.local',
      {
        'package.json': { dependencies: using('next', '@prisma/client') },
        'tsconfig.json': '{ "compilerOptions": { "module": "esnext" } }',
      },
      {
        framework: 'next',
        modules: 'esm',
        envFile: '.env.local',
        database: '@prisma/client',
        importsTs: false,
      },
    ],
    [
      'SvelteKit',
      {
        'package.json': { type: 'module', devDependencies: { '@sveltejs/kit': '^2.63.0' } },
        'tsconfig.json': '{}',
      },
      { framework: 'sveltekit', major: 2, importsTs: true },
    ],
    [
      'React Router',
      {
        'package.json': {
          devDependencies: using('@react-router/dev'),
          packageManager: 'bun@1.3.0',
        },
      },
      { framework: 'react-router', packageManager: 'bun' },
    ],
    [
      'AdonisJS',
      { 'package.json': { dependencies: using('@adonisjs/core') } },
      { framework: 'adonisjs' },
    ],
    ['Deno', { 'package.json': {}, 'deno.json': '{}' }, { framework: 'deno' }],
    ['Bun', { 'package.json': {}, 'bunfig.toml': '' }, { framework: 'bun' }],
    [
      'node:http with node:sqlite',
      {
        'package.json': { type: 'module' },
        'server.js': "import { DatabaseSync } from 'node:sqlite';",
      },
      { framework: 'node', database: 'node:sqlite', packageManager: 'npm' },
    ],
    [
      'Knex with MySQL',
      { 'package.json': { dependencies: using('knex', 'mysql2') } },
      { database: 'knex' },
    ],
    [
      'better-sqlite3',
      { 'package.json': { dependencies: using('better-sqlite3') } },
      { database: 'better-sqlite3' },
    ],
    ['MariaDB', { 'package.json': { dependencies: using('mariadb') } }, { database: 'mariadb' }],
  ])('finds %s', (_, files, found) => {
    expect(detect(folderWith(files))).toMatchObject(found);
  });
});

describe('create-portico in an existing application', () => {
  test('adds files, settings and ignored folders, and prints the lines to add', async () => {
    const folder = folderWith({ ...EXPRESS, '.env': 'A=1', '.gitignore': 'node_modules\n' });
    const { code, stdout } = await create(folder, ['--yes', '--no-install']);
    expect(code).toBe(0);
    expect(Object.keys(contents(folder))).toEqual([
      '.env',
      '.gitignore',
      'package.json',
      'portico-session.js',
      'portico-users.js',
      'portico.js',
    ]);
    expect(read(folder, '.env')).toMatch(
      /^A=1\nAPP_ENV=dev\nPUBLIC_URL=http:\/\/localhost:3000\nUSERS_DATABASE=app\.sqlite\nSESSION_SECRET=[\w-]{43}\n$/,
    );
    expect(read(folder, '.gitignore')).toBe('node_modules\nstorage/\nlogs/\n.env\n.env.local\n');
    expect(JSON.parse(read(folder, 'package.json'))).toEqual({
      ...EXPRESS['package.json'],
      portico: { app: 'portico.js' },
    });
    expect(linesToAdd(stdout)).toEqual([
      [
        "import { portico } from 'portico/express';",
        "import { startPortico } from './portico.js';",
        'app.use(portico(await startPortico()));',
      ],
    ]);
    expect(stdout).toContain('Then open http://localhost:3000/.well-known/openid-configuration');
  });

  test.each(FRAMEWORKS)(
    'says if the host must still find the IP addresses: %s',
    async (framework) => {
      const folder = folderWith(EXPRESS);
      createUsers(path.join(folder, 'data.sqlite'));
      const args = ['--yes', '--no-install', `--framework=${framework}`, ...USERS];
      const { code, stdout } = await create(folder, args);
      expect(code).toBe(0);
      const isUnknown = framework === 'next' || framework === 'react-router';
      expect(stdout.includes('clientAddress')).toBe(isUnknown);
    },
  );

  test('says that the sign-in page must return to Portico, with and without a session library', async () => {
    for (const names of [['express'], ['express', 'express-session']]) {
      const dependencies = using(...names);
      const folder = folderWith({ 'package.json': { type: 'module', dependencies } });
      const { stdout } = await create(folder, ['--yes', '--no-install']);
      expect(stdout.split('\nNext:\n')[1]).toContain('redirect to returnPath(return_to)');
      expect(read(folder, 'portico.js')).toContain('redirect to returnPath(return_to)');
    }
  });

  test('says where to read users that are in no SQLite file, for example in MongoDB', async () => {
    const dependencies = using('express', 'mongoose', 'passport');
    const folder = folderWith({ 'package.json': { type: 'module', dependencies } });
    const hint = 'there is no app.sqlite. Set USERS_DATABASE, or write your own query';
    const options = ['--yes', '--no-install'];
    expect((await create(folder, options)).stdout.split('\nNext:\n')[1]).toContain(hint);
    const other = folderWith(EXPRESS);
    createUsers(path.join(other, 'data.sqlite'));
    expect((await create(other, [...options, ...USERS])).stdout).not.toContain(
      'USERS_DATABASE, or',
    );
  });

  test.each([
    ['react-router', 'redirectDocument()'],
    ['sveltekit', '?/login&return_to='],
  ])('says how the sign-in page of %s returns to Portico', async (framework, says) => {
    const folder = folderWith(EXPRESS);
    createUsers(path.join(folder, 'data.sqlite'));
    const args = ['--yes', '--no-install', `--framework=${framework}`, ...USERS];
    expect((await create(folder, args)).stdout.split('\nNext:\n')[1]).toContain(says);
  });

  test('over https, signs people in with a cookie that only this host can set', async () => {
    const folder = folderWith(EXPRESS);
    const args = ['--yes', '--no-install', '--url=https://shop.example'];
    createUsers(path.join(folder, 'data.sqlite'));
    expect((await create(folder, [...args, ...USERS])).code).toBe(0);
    const program = `import { beginSession, userIdOf } from './portico-session.js';
      const [cookie] = beginSession('7').split(';');
      const others = cookie.replace('__Host-', '');
      console.log(JSON.stringify([beginSession('7'), userIdOf(cookie), userIdOf(others)]));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
    });
    const [cookie, id, tossed] = JSON.parse(stdout) as readonly unknown[];
    expect(cookie).toMatch(/^__Host-portico_session=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect([id, tossed]).toEqual(['7', null]);
  });

  test('finds accounts with ids larger than a JavaScript number', async () => {
    const folder = folderWith(EXPRESS);
    using database = new DatabaseSync(path.join(folder, 'data.sqlite'));
    database.exec(`CREATE TABLE people (nr INTEGER PRIMARY KEY, mail TEXT, full_name TEXT);
      INSERT INTO people VALUES (7203685477580123457, 'ada@example.com', 'Ada Lovelace')`);
    expect((await create(folder, ['--yes', '--no-install', ...USERS])).code).toBe(0);
    const { openUsers } = (await import(path.join(folder, 'portico-users.js'))) as {
      readonly openUsers: (file: string) => { byId(id: string): Promise<unknown> };
    };
    const users = openUsers(path.join(folder, 'data.sqlite'));
    expect(await users.byId('7203685477580123457')).toMatchObject({ name: 'Ada Lovelace' });
    expect(await users.byId('7203685477580123456')).toBeNull();
  });

  test('keeps every existing file and setting', async () => {
    const own = {
      'portico.js': 'mine',
      'portico-users.js': 'mine too',
      '.env': 'PUBLIC_URL=http://localhost:8080\nSESSION_SECRET=mine\n',
    };
    const folder = folderWith({ ...EXPRESS, ...own });
    const { code, stdout } = await create(folder, ['--yes', '--no-install']);
    expect(code).toBe(0);
    expect(contents(folder)).toMatchObject({
      'portico.js': 'mine',
      'portico-users.js': 'mine too',
    });
    expect(read(folder, '.env')).toBe(`${own['.env']}APP_ENV=dev\nUSERS_DATABASE=app.sqlite\n`);
    expect(read(folder, 'portico.js.portico.new')).toContain('defineApplication');
    expect(stdout).toContain('portico-users.js.portico.new');
  });

  test.each(FRAMEWORKS)('changes nothing in a second run: %s', async (framework) => {
    const folder = folderWith({ ...EXPRESS, 'portico.js': 'mine' });
    const args = ['--yes', '--no-install', `--framework=${framework}`];
    expect((await create(folder, args)).code).toBe(0);
    const before = contents(folder);
    const { code, stdout } = await create(folder, args);
    expect([code, contents(folder)]).toEqual([0, before]);
    expect(stdout).toContain('nothing to write');
  });

  test('with --dry-run prints the plan without secrets and changes nothing', async () => {
    const folder = folderWith(EXPRESS);
    const before = contents(folder);
    const { code, stdout } = await create(folder, ['--yes', '--dry-run']);
    expect([code, contents(folder)]).toEqual([0, before]);
    expect(stdout).toContain('create portico.js');
    expect(stdout).toContain('defineApplication({');
    expect(stdout).toContain('npm install portico@');
    expect(stdout).not.toContain('SESSION_SECRET=');
  });

  // Two SQLite libraries in one process do not see each other's locks.
  test.each([
    ['better-sqlite3', "from 'better-sqlite3'"],
    ['@prisma/client', 'Query your users in'],
    ['sqlite3', 'Query your users in'],
  ])('never opens the SQLite file with a second library: %s', async (library, text) => {
    const dependencies = using('express', library);
    const folder = folderWith({ 'package.json': { type: 'module', dependencies } });
    const { code } = await create(folder, ['--yes', '--no-install', '--database=a.sqlite']);
    expect(code).toBe(0);
    expect(read(folder, 'portico-users.js')).toContain(text);
    expect(read(folder, 'portico-users.js')).not.toContain('node:sqlite');
  });

  test('replaces types of an older Node with those of Node 24', async () => {
    const devDependencies = { '@types/node': '^20', typescript: '^5' };
    const folder = folderWith({ 'package.json': { dependencies: using('next'), devDependencies } });
    const { stdout } = await create(folder, ['--yes', '--no-install']);
    expect(stdout).toContain('npm install --save-dev @types/node@24\n');
  });

  test('does nothing if the application already has Portico', async () => {
    const own = { 'package.json': { dependencies: using('express'), portico: { app: 'app.ts' } } };
    const folder = folderWith(own);
    const before = contents(folder);
    const { code, stderr } = await create(folder, ['--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('already uses Portico')]);
    expect(contents(folder)).toEqual(before);
  });

  test('restores the application if a step fails', async () => {
    // A file has the name of the folder for the route, which is written after three other files.
    const folder = folderWith({ ...EXPRESS, 'app/routes': '', '.env': 'A=1' });
    const before = contents(folder);
    const args = ['--yes', '--no-install', '--framework=react-router'];
    const { code, stderr } = await create(folder, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was changed')]);
    expect(contents(folder)).toEqual(before);
  });

  test('restores the application if a file is written only in part', () => {
    const folder = folderWith({ 'package.json': { dependencies: using('next') } });
    const before = readdirSync(folder);
    const source = path.join(ROOT, 'packages/create-portico/src/index.ts');
    const script = `import { createPortico } from ${JSON.stringify(source)};
      const streams = { cwd: process.cwd(), input: process.stdin };
      for (const name of ['stdout', 'stderr']) streams[name] = (text) => process[name].write(text);
      process.exitCode = await createPortico(['--yes', '--no-install'], streams);`;
    // The limit is one block, so the system rejects the rest of the first file.
    const { status, stderr } = spawnSync(
      'sh',
      [
        '-c',
        'ulimit -f 1; exec "$@"',
        'sh',
        process.execPath,
        '--input-type=module',
        '--eval',
        script,
      ],
      { cwd: folder, encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([1, expect.stringMatching(/EFBIG.*\nNothing was changed/)]);
    expect(readdirSync(folder)).toEqual(before);
  });

  test('completes the application if the reader of its output stops reading', () => {
    const folder = folderWith(EXPRESS);
    const program = path.join(ROOT, 'packages/create-portico/bin/create-portico.js');
    const { stderr } = spawnSync(
      'sh',
      [
        '-c',
        '{ "$@"; echo "code $?" >&2; } | true',
        'sh',
        process.execPath,
        program,
        '--yes',
        '--no-install',
      ],
      { cwd: folder, encoding: 'utf8' },
    );
    expect([stderr, read(folder, 'portico.js')]).toEqual([
      'code 0\n',
      expect.stringContaining('defineApplication({'),
    ]);
  });

  test.each([
    ['.env.*', '.env\n'],
    ['.env*', ''],
    ['.env\n.env.*', ''],
    ['.env', '.env.local\n'],
  ])('keeps secrets out of Git: %j', async (ignored, added) => {
    const folder = folderWith({ ...EXPRESS, '.gitignore': `storage/\nlogs/\n${ignored}\n` });
    expect((await create(folder, ['--yes', '--no-install'])).code).toBe(0);
    expect(read(folder, '.gitignore')).toBe(`storage/\nlogs/\n${ignored}\n${added}`);
  });

  test('keeps the settings of .env if .env.local exists too', async () => {
    const files = {
      'package.json': { dependencies: using('next') },
      '.env':
        'DATABASE_URL=postgres://db/shop\nSESSION_SECRET=mine\nPUBLIC_URL=https://shop.example\n',
      '.env.local': 'A=1\n',
    };
    const folder = folderWith(files);
    const { code, stdout } = await create(folder, ['--yes', '--no-install']);
    expect(code).toBe(0);
    expect(contents(folder)).toMatchObject({
      '.env': files['.env'],
      '.env.local': 'A=1\n',
      'lib/portico-users.js': expect.stringContaining("from 'pg'"),
    });
    expect(stdout).toContain('https://shop.example/.well-known');
    expect(stdout).toContain('copy PUBLIC_URL, DATABASE_URL, SESSION_SECRET from .env');
  });

  test.runIf(RUNS_ALL)(
    'runs the console with the settings of .env, even if .env.local exists too',
    async () => {
      const folder = folderWith({
        'package.json': { type: 'module', dependencies: using('express') },
        '.env':
          'USERS_DATABASE=data.sqlite\nSESSION_SECRET=mine\nPUBLIC_URL=http://localhost:3000\n',
        '.env.local': 'A=1\n',
      });
      link(folder);
      createUsers(path.join(folder, 'data.sqlite'));
      const { code, stdout } = await create(folder, ['--yes', ...USERS]);
      expect([code, clientIn(stdout).id]).toEqual([0, expect.stringMatching(/./)]);
      expect(read(folder, '.env.local')).toBe('A=1\nAPP_ENV=dev\n');
    },
  );

  test.each([`pa'ss`, `pa"ss`, `pa'"ss`, 'pa ss', 'pa`ss', String.raw`pa\ns's`])(
    'reads the database from .env: %s',
    async (password) => {
      const folder = folderWith(EXPRESS);
      const url = `mysql://u:${password}@h/db`;
      expect((await create(folder, ['--yes', '--no-install', `--database=${url}`])).code).toBe(0);
      expect(parseEnv(read(folder, '.env'))['DATABASE_URL']).toBe(url);
    },
  );

  test('changes nothing if a folder has the name of a file', async () => {
    const folder = folderWith({ ...EXPRESS, '.env/A': '' });
    const before = contents(folder);
    expect(await create(folder, ['--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.env is not a file'),
    });
    expect(contents(folder)).toEqual(before);
  });

  test('describes the application by the answers that a person types', async () => {
    const folder = folderWith(EXPRESS);
    createUsers(path.join(folder, 'data.sqlite'));
    const answers = [
      '',
      'data.sqlite',
      'people; DROP',
      'people',
      'nr',
      'mail',
      'full_name',
      'http://localhost:9000',
    ];
    const { code, stdout } = await create(folder, ['--no-install'], answers);
    expect(code).toBe(0);
    expect(stdout).toContain('"people; DROP" is not a valid name for a table');
    expect(read(folder, 'portico-users.js')).toContain('FROM "people" WHERE "nr" = ?');
    expect(read(folder, '.env')).toContain('PUBLIC_URL=http://localhost:9000\n');
  });

  test('asks again if the SQLite file has no table or column with the typed name', async () => {
    const folder = folderWith(EXPRESS);
    createUsers(path.join(folder, 'data.sqlite'));
    const typed = ['package.json', 'data.sqlite', 'poeple', 'people', 'id', 'nr', 'mail', 'name'];
    const answers = ['', ...typed, 'full_name', ''];
    const { code, stdout } = await create(folder, ['--no-install'], answers);
    expect(stdout).toContain('package.json cannot be read: file is not a database.');
    expect(stdout).toContain('data.sqlite contains no table poeple. Its tables are people.');
    expect(stdout).toContain('people has no column id. Its columns are nr, mail, full_name.');
    expect(stdout).toContain('people has no column name. Its columns are nr, mail, full_name.');
    expect(code).toBe(0);
    expect(read(folder, 'portico-users.js')).toContain('FROM "people" WHERE "nr" = ?');
  });

  test('writes nothing if the person cancels', async () => {
    const folder = folderWith(EXPRESS);
    const before = contents(folder);
    const { code, stderr } = await create(folder, ['--no-install'], ['', 'app.sqlite']);
    expect([code, stderr]).toEqual([130, expect.stringContaining('Nothing was written')]);
    expect(contents(folder)).toEqual(before);
  });

  test.each([
    [['--framework=rails'], 'Unknown framework "rails"'],
    [['--framework=bun'], 'docs/mounting/bun.md'],
    [['--database=oracle://x'], 'oracle:// is not supported'],
    [['--database=package.json'], 'cannot be read: file is not a database'],
    [
      ['--database=view.sqlite', '--users-table=shown'],
      'view.sqlite cannot be read: no such table: main.removed',
    ],
    [['--database=data/users.sqlite'], 'contains no table users. Its tables are people.'],
    [['--database=empty.sqlite'], 'empty.sqlite contains no tables'],
    [
      ['--database=data/users.sqlite', '--users-table=people'],
      'has no column id. Its columns are nr, mail, full_name',
    ],
    [['--users-table=a"b'], 'is not a valid name for a table'],
    [['--url=http://shop.example'], 'must begin with https'],
    [['--url=https://shop.example/path'], 'without a path'],
    [['--portico=./missing'], 'no such file or folder'],
    [['--database=mysql:shop'], 'not a valid mysql URL'],
    [[`--database=mysql://u:'"\`@h/db`], 'The value of DATABASE_URL contains'],
    [['--redirect=http://shop.example/callback'], 'must begin with https'],
    [['--url=shop'], 'must be a URL without a path'],
    [['--redirect=callback'], 'is not a URL'],
    [['--redirect=https://shop.example/*'], 'contains a wildcard'],
    [['--redirect=https://ada:secret@shop.example/'], 'contains a user name or password'],
    [['--redirect=https://shop.example/callback#top'], 'without a fragment'],
    [['--redirect=https://shop.example/callback?code=1'], 'must not contain the parameter code'],
    [['--fast'], "Unknown option '--fast'"],
    [['--portico=.'], 'does not contain the package file of'],
    [['--portico='], '--portico is empty or contains a line break'],
    [['--name-column=name\nof'], '--name-column is empty or contains a line break'],
    [['one', 'other'], 'Give one folder, not several'],
  ])('writes nothing for invalid input: %s', async (args, message) => {
    const folder = folderWith(EXPRESS);
    createUsers(path.join(folder, 'data', 'users.sqlite'));
    write(folder, { 'empty.sqlite': '' });
    const view = new DatabaseSync(path.join(folder, 'view.sqlite'));
    view.exec('CREATE VIEW shown AS SELECT id FROM removed');
    view.close();
    const before = contents(folder);
    const { code, stderr } = await create(folder, ['--yes', '--database=new.sqlite', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(contents(folder)).toEqual(before);
  });

  test('keeps a changed file beside the new one, and refuses to replace that one too', async () => {
    const folder = folderWith({ ...EXPRESS, 'portico-users.js': '// mine\n' });
    const args = ['--yes', '--no-install', '--database=new.sqlite'];
    write(folder, { 'portico-users.js.portico.new': '// from an earlier run\n' });
    const before = contents(folder);
    const { code, stderr } = await create(folder, args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('already exists with different')]);
    expect(contents(folder)).toEqual(before);
  });

  test.each([
    ['pg', 'postgres://localhost:5432/app'],
    ['mysql2', 'mysql://localhost:3306/app'],
  ])('expects the users in the database that the driver %s connects to', async (driver, url) => {
    const dependencies = using('express', driver);
    const folder = folderWith({ 'package.json': { type: 'module', dependencies } });
    expect((await create(folder, ['--yes', '--no-install'])).code).toBe(0);
    expect(Object.values(parseEnv(read(folder, '.env')))).toContain(url);
  });

  test('leaves the tables of a schema tool alone, and keeps its own in a schema', async () => {
    const dependencies = using('express', 'knex', 'pg');
    const folder = folderWith({ 'package.json': { type: 'module', dependencies } });
    const database = '--database=postgres://localhost/app';
    expect((await create(folder, ['--yes', '--no-install', database])).code).toBe(0);
    expect(read(folder, 'portico.js')).toContain("database_schema: 'portico'");
  });

  test('keeps its own tables in another file if DATABASE_URL is not a SQLite file', async () => {
    const folder = folderWith({ ...EXPRESS, '.env': 'DATABASE_URL=mongodb://localhost/app\n' });
    createUsers(path.join(folder, 'data.sqlite'));
    expect((await create(folder, ['--yes', '--no-install', ...USERS])).code).toBe(0);
    expect(read(folder, 'portico.js')).toContain('sqlite:storage/app.sqlite');
  });

  test.each<[string, Record<string, string | object>, RegExp]>([
    [
      'CommonJS',
      { 'package.json': { dependencies: using('koa') } },
      /, in an async function:\n +const \{ portico \} = require\('portico\/koa'\);/,
    ],
    [
      'Next.js below src',
      { 'package.json': { dependencies: using('next') }, 'src/app/page.js': '' },
      /src\/lib\/portico\.js\n[^]*src\/app\//,
    ],
    [
      'SvelteKit 2',
      { 'package.json': { type: 'module', devDependencies: { '@sveltejs/kit': '^2.5.0' } } },
      /from '\$app\/environment'/,
    ],
  ])('fits the application: %s', async (_, files, fits) => {
    const folder = folderWith(files);
    const { code, stdout } = await create(folder, ['--yes', '--no-install']);
    expect([code, `${stdout}${Object.values(contents(folder)).join('\n')}`]).toEqual([
      0,
      expect.stringMatching(fits),
    ]);
  });

  test.each([
    ['tabs', '\t', '\n'],
    ['a single line', '', '\n'],
    ['no line break at the end', '  ', ''],
  ])('keeps the format of package.json: %s', async (_, indent, end) => {
    const before = JSON.stringify(EXPRESS['package.json'], null, indent);
    const folder = folderWith({ 'package.json': `${before}${end}` });
    expect((await create(folder, ['--yes', '--no-install'])).code).toBe(0);
    const after = read(folder, 'package.json');
    expect(after.endsWith('}\n')).toBe(end !== '');
    expect(after).toContain(`\n${indent === '' ? '  ' : indent}"portico": {`);
  });

  test.each([
    ['--help', /^Usage: npm create portico/m],
    ['--version', /^\d+\.\d+\.\d+\S*\n$/],
  ])('with %s only prints it', async (option, printed) => {
    const folder = folderWith(EXPRESS);
    const before = contents(folder);
    const { code, stdout } = await create(folder, [option]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(printed)]);
    expect(contents(folder)).toEqual(before);
  });

  test('needs a package.json', async () => {
    const folder = folderWith({ 'notes.txt': '' });
    expect(await create(folder, ['--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no package.json'),
    });
  });
});

describe('create-portico for a new application', () => {
  test.each([
    ['data.sqlite', 'sqlite:data.sqlite', ''],
    ['sqlite:data.sqlite', 'sqlite:data.sqlite', ''],
    ['postgres://localhost/app', 'postgres://localhost/app', 'pg'],
    ['mariadb://localhost/app', 'mysql://localhost/app', 'mysql2'],
  ])('stores the data in the database %s', async (given, url, driver) => {
    const folder = folderWith();
    const { code, stdout } = await create(folder, ['--yes', '--no-install', `--database=${given}`]);
    expect(code).toBe(0);
    expect(parseEnv(read(folder, '.env'))['DATABASE_URL']).toBe(url);
    expect(/ (pg|mysql2)\n/.exec(stdout)?.[1] ?? '').toBe(driver);
  });

  test.each([
    ['--database=mongodb:shop', 'mongodb:// is not supported'],
    ['--database=sqlite:', 'must be followed by the path of a file'],
    ['--redirect=http://shop.example/callback', 'must begin with https'],
    ['--framework=next', 'A new application cannot be created with "next"'],
  ])('writes nothing for invalid input: %s', async (option, message) => {
    const folder = folderWith();
    const { code, stderr } = await create(folder, ['--yes', option]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(contents(folder)).toEqual({});
  });

  test('creates an application that slows down password guesses without locking the person out', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { checkPassword } = await import('../packages/create-portico/templates/new/users.ts');
    const tries = async (password: string) =>
      (await checkPassword('ada@example.com', password))?.id;
    expect(await tries('portico')).toBe('1');
    for (let each = 0; each < 20; each++) expect(await tries('wrong')).toBeUndefined();
    const right = await Promise.all(Array.from({ length: 20 }, () => tries('portico')));
    expect(right).toContain(undefined);
    expect(await checkPassword('unknown@example.com', 'portico')).toBeUndefined();
    vi.setSystemTime(1_800_000_030_000);
    expect(await tries('portico')).toBe('1');
  });

  test.runIf(RUNS_ALL)('continues a kit application after its account was created', async () => {
    const folder = folderWith();
    expect((await create(folder, ['--yes', '--no-install'])).code).toBe(0);
    link(folder);
    for (const args of [
      ['db:migrate', 'up'],
      ['account:create', 'me@example.com', 'My Name'],
    ]) {
      const program = [path.join(ROOT, 'packages/portico/bin/portico.js'), '--app', 'app.ts'];
      expect(spawnSync(process.execPath, [...program, ...args], { cwd: folder }).status).toBe(0);
    }
    const { code, stdout } = await create(folder, ['--yes']);
    expect([code, clientIn(stdout).id]).toEqual([0, expect.stringMatching(/./)]);
    expect(stdout).toContain('me@example.com now has the permission notes:read');
  });
});

/** Windows starts scripts such as npm with a shell. Here, that shell is `sh`. */
describe('create-portico on Windows', () => {
  const platform = process.platform;
  const pretend = (value: string) => Object.defineProperty(process, 'platform', { value });
  afterEach(() => {
    pretend(platform);
    vi.unstubAllEnvs();
  });
  function onWindows() {
    vi.stubEnv('comspec', '/bin/sh');
    pretend('win32');
  }

  test.runIf(RUNS_ALL)('passes no option and no folder to a shell', async () => {
    const folder = folderWith({ 'my shop/package.json': EXPRESS['package.json'] });
    const shop = path.join(folder, 'my shop');
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(shop, 'node_modules'));
    createUsers(path.join(shop, 'data.sqlite'));
    onWindows();
    const args = ['--yes', ...USERS, '--redirect=http://localhost:4000/cb?a=1&mkdir'];
    const { code, stdout } = await create(shop, args);
    expect([code, clientIn(stdout).id]).toEqual([0, expect.stringMatching(/./)]);
  });

  test('passes each path to the package manager as one argument', async () => {
    const folder = folderWith({
      ...EXPRESS,
      'my files/portico-0.1.0.tgz': '',
      'my files/portico-sql-0.1.0.tgz': '',
      'bin/npm': '#!/bin/sh\nprintf "<%s>" "$@"\nexit 1\n',
    });
    chmodSync(path.join(folder, 'bin/npm'), 0o755);
    vi.stubEnv('PATH', `${folder}/bin:${process.env['PATH']}`);
    onWindows();
    const { code, stdout } = await create(folder, ['--yes', '--portico=my files']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(
        `<install><${folder}/my files/portico-sql-0.1.0.tgz><${folder}/my files/portico-0.1.0.tgz>`,
      ),
    ]);
  });

  test.each(['a&calc', 'a%PATH%', 'a^b'])('writes nothing for packages in %s', async (name) => {
    const files = { [`${name}/portico-0.1.0.tgz`]: '', [`${name}/portico-sql-0.1.0.tgz`]: '' };
    const folder = folderWith({ ...EXPRESS, ...files });
    const before = contents(folder);
    onWindows();
    const { code, stderr } = await create(folder, ['--yes', `--portico=${name}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('a special meaning in the shell')]);
    expect(contents(folder)).toEqual(before);
  });
});

describe('the files that create-portico generates', () => {
  /** A fixture for each framework and session library, and the database of its users. */
  const APPLICATIONS = [
    ...FRAMEWORKS.map((name) => [name, [], 'sqlite'] as const),
    ['express', ['express', 'express-session'], 'postgres'],
    ['express', ['express', 'express-session', 'passport'], 'mysql'],
    ['fastify', ['fastify', '@fastify/session'], 'sqlite'],
    ['hono', ['hono', '@hono/session'], 'postgres'],
    ['koa', ['koa', 'koa-session'], 'mysql'],
    ['nest', ['@nestjs/core', 'passport'], 'sqlite'],
    ['express', ['express', 'sqlite3'], 'sqlite'],
  ] as const;
  const DATABASES = {
    sqlite: 'app.sqlite',
    postgres: 'postgres://localhost/app',
    mysql: 'mysql://localhost/app',
  };
  const STRICT = {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2024',
      lib: ['es2024', 'dom'],
      types: ['node'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
    },
    // The types of these two files come from frameworks that this workspace does not install.
    exclude: ['node_modules', '**/hooks.server.ts', '**/routes/portico.ts'],
  };

  /** Frameworks with a bundler, which finds files without their extension. */
  const BUNDLED = { next: true, sveltekit: true, 'react-router': true };
  const BUNDLED_STRICT = {
    ...STRICT,
    compilerOptions: {
      ...STRICT.compilerOptions,
      module: 'esnext',
      moduleResolution: 'bundler',
    },
  };

  test.each(APPLICATIONS)(
    'compile for %s with %j and %s',
    async (framework, dependencies, database) => {
      const dependency =
        { nest: '@nestjs/core', sveltekit: '@sveltejs/kit', 'react-router': '@react-router/dev' }[
          framework as string
        ] ?? framework;
      const named =
        dependencies.length === 0 ? (framework === 'node' ? [] : [dependency]) : dependencies;
      const folder = folderWith({
        'package.json': { type: 'module', dependencies: using(...named) },
        'tsconfig.json': framework in BUNDLED ? BUNDLED_STRICT : STRICT,
      });
      link(folder);
      expect(
        (
          await create(folder, [
            '--yes',
            '--no-install',
            `--framework=${framework}`,
            `--database=${DATABASES[database]}`,
          ])
        ).code,
      ).toBe(0);
      expect(compile(folder)).toBe('');
    },
  );

  test.each(NEW_FRAMEWORKS)(
    'of a new application with %s match its guide and compile',
    async (framework) => {
      const folder = folderWith();
      expect(
        (await create(folder, ['--yes', '--no-install', `--framework=${framework}`])).code,
      ).toBe(0);
      const guide = readFileSync(
        path.join(
          ROOT,
          framework === 'kit' ? 'docs/getting-started.md' : `docs/mounting/${framework}.md`,
        ),
        'utf8',
      );
      const files = globSync('*.ts', { cwd: folder });
      expect(files).not.toEqual([]);
      for (const file of files)
        expect(guide).toContain(`\`\`\`ts\n// ${file}\n${read(folder, file)}\`\`\``);
      write(folder, { 'tsconfig.json': STRICT });
      link(folder);
      expect(compile(folder)).toBe('');
    },
  );

  function compile(folder: string): string {
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    return spawnSync(process.execPath, [compiler, '-p', folder, '--checkers', '1'], {
      encoding: 'utf8',
    }).stdout;
  }
});

/** A page that signs the person in without a password, as a fixture may. */
const SERVERS = {
  'express in ES modules': {
    dependencies: { express: '^5.0.0' },
    type: 'module',
    main: 'server.ts',
    files: { 'tsconfig.json': { compilerOptions: { allowImportingTsExtensions: true } } },
    program: ([lines = []]: readonly (readonly string[])[]) => `
      import express from 'express';
      import { returnPath } from 'portico';
      import { beginSession } from './portico-session.ts';
      ${lines.slice(0, -1).join('\n')}
      const app = express();
      ${lines.at(-1)}
      app.get('/login', (req, res) => {
        res.setHeader('Set-Cookie', beginSession('7'));
        res.redirect(303, returnPath(String(req.query['return_to'])));
      });
      app.listen(Number(process.env['PORT']));`,
  },
  'express in CommonJS': {
    dependencies: { express: '^4.0.0' },
    type: 'commonjs',
    main: 'server.js',
    files: {},
    program: ([lines = []]: readonly (readonly string[])[]) => `
      const express = require('express-4');
      const { returnPath } = require('portico');
      const { beginSession } = require('./portico-session.mjs');
      const app = express();
      ${lines.join('\n')}
      app.get('/login', (req, res) => {
        res.setHeader('Set-Cookie', beginSession('7'));
        res.redirect(303, returnPath(String(req.query.return_to)));
      });
      app.listen(Number(process.env.PORT));`,
  },
  'node:http': {
    dependencies: {},
    type: 'module',
    main: 'server.js',
    files: {},
    program: ([lines = [], handler = []]: readonly (readonly string[])[]) => `
      import { createServer } from 'node:http';
      import { returnPath } from 'portico';
      import { beginSession } from './portico-session.js';
      ${lines.join('\n')}
      createServer(async (request, response) => {
        ${handler.join('\n')}
        const { searchParams } = new URL(request.url, 'http://localhost');
        response.writeHead(303, { 'Set-Cookie': beginSession('7'), Location: returnPath(searchParams.get('return_to')) }).end();
      }).listen(Number(process.env.PORT));`,
  },
};

/** Applies the migrations of an application that create-portico did not install. */
function migrate(folder: string, app: string): void {
  const program = path.join(ROOT, 'packages/portico/bin/portico.js');
  const args = [program, '--app', app, 'db:migrate', 'up'];
  expect(spawnSync(process.execPath, args, { cwd: folder }).status).toBe(0);
}

/** Sends a wrong secret. Returns the address that the audit event of the refusal contains. */
async function addressOfRefused(
  folder: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const body = new URLSearchParams({ client_id: 'x', client_secret: 'x', grant_type: 'x' });
  const refused = await fetch(`${url}/oauth/token`, { method: 'POST', headers, body });
  expect(refused.status).toBe(401);
  const event = await vi.waitUntil(() =>
    /"client_authentication_failed".*?"address":"?([^",]*)/.exec(read(folder, 'logs/app.log')),
  );
  return event?.[1];
}

describe('a started application', () => {
  test.runIf(RUNS_ALL).each(Object.entries(SERVERS))(
    'issues a token to the first client: %s',
    async (_, server) => {
      const { dependencies, type, main, files, program } = server;
      const folder = folderWith({ 'package.json': { name: 'shop', type, dependencies }, ...files });
      link(folder);
      createUsers(path.join(folder, 'data.sqlite'));
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const args = ['--yes', ...USERS, `--url=${url}`];
      const made = await create(folder, args);
      expect(made).toMatchObject({ code: 0 });
      write(folder, { [main]: program(linesToAdd(made.stdout)) });

      const before = contents(folder);
      const again = await create(folder, args);
      expect([again.code, contents(folder)]).toEqual([0, before]);
      expect(again.stdout).not.toContain('client id');

      const running = await startProgram(folder, [process.execPath, main], url, {
        PORT: String(port),
      });
      const { tokens, claims } = await runCodeFlow(
        url,
        clientIn(made.stdout),
        'openid profile email data:read',
      );
      expect(tokens.scope.split(' ').toSorted()).toEqual([
        'data:read',
        'email',
        'openid',
        'profile',
      ]);
      expect(claims).toMatchObject({
        sub: expect.any(String),
        name: 'Ada Lovelace',
        email: 'ada@example.com',
      });
      await running.stop();
    },
  );

  test.runIf(RUNS_ALL).each(['express', 'fastify', 'koa'])(
    'with an https URL reads the address that its proxy sends: %s',
    async (framework) => {
      const folder = folderWith();
      const args = ['--yes', '--no-install', `--framework=${framework}`];
      expect((await create(folder, [...args, '--url=https://app.example'])).code).toBe(0);
      link(folder);
      migrate(folder, 'portico.ts');
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const program = [process.execPath, '--env-file=.env', 'server.ts'];
      const running = await startProgram(folder, program, url, { PORT: String(port) });
      const sent = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '192.0.2.9, 203.0.113.5' };
      expect(await addressOfRefused(folder, url, sent)).toBe('203.0.113.5');
      await running.stop();
    },
  );

  // The endpoints and a request event stand for SvelteKit, which this workspace does not install.
  test.runIf(RUNS_ALL)('knows which address sends wrong secrets: sveltekit', async () => {
    const folder = folderWith({
      'package.json': { name: 'shop', type: 'module', dependencies: using('@sveltejs/kit') },
      'server.js': `
        import { serve } from '@hono/node-server';
        import { portico } from './src/lib/server/portico.js';
        const fetch = async (request, { incoming }) => {
          const { endpoints } = await portico();
          const getClientAddress = () => incoming.socket.remoteAddress;
          return (await endpoints(request, { request, getClientAddress })) ?? new Response();
        };
        serve({ fetch, port: Number(process.env.PORT) });`,
    });
    link(folder);
    createUsers(path.join(folder, 'data.sqlite'));
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const made = await create(folder, ['--yes', '--no-install', ...USERS, `--url=${url}`]);
    expect(made).toMatchObject({ code: 0 });
    migrate(folder, 'src/lib/server/portico.js');
    const env = { PORT: String(port) };
    const running = await startProgram(folder, [process.execPath, 'server.js'], url, env);
    expect(await addressOfRefused(folder, url)).toMatch(/^(::1|127\.0\.0\.1)$/);
    await running.stop();
  });

  /** Applications with express-session. Their store begins sessions, but cannot end them. */
  const WITH_SESSIONS = [
    ['new', '1', {}, []],
    [
      'existing',
      '7',
      {
        'package.json': {
          name: 'shop',
          type: 'module',
          dependencies: using('express', 'express-session'),
        },
        'tsconfig.json': { compilerOptions: { allowImportingTsExtensions: true } },
      },
      USERS,
    ],
  ] as const;

  test.runIf(RUNS_ALL).each(WITH_SESSIONS)(
    'does not say that it signed a person out if the store keeps the session: %s application',
    async (_, userId, files, users) => {
      const folder = folderWith(files);
      if (users.length > 0) createUsers(path.join(folder, 'data.sqlite'));
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const args = ['--yes', '--framework=express', ...users, `--url=${url}`];
      expect((await create(folder, [...args, '--no-install'])).code).toBe(0);
      link(folder);
      const made = await create(folder, args);
      expect(made).toMatchObject({ code: 0 });
      write(folder, {
        'server.ts': `
          import express from 'express';
          import session from 'express-session';
          import { portico } from 'portico/express';
          import { authorizationServerOf, returnPath, startApplication } from 'portico';
          import definition from './portico.ts';
          const store = new session.MemoryStore();
          store.destroy = (_, done) => done(new Error('The store cannot be reached'));
          const app = express();
          app.use(session({ secret: 'secret', store, resave: false, saveUninitialized: false }));
          app.use(portico(authorizationServerOf(await startApplication(definition))));
          app.get('/login', (req, res) => {
            req.session.userId = '${userId}';
            res.redirect(303, returnPath(String(req.query.return_to)));
          });
          app.listen(${port});`,
      });
      const program = [process.execPath, '--env-file=.env', 'server.ts'];
      const running = await startProgram(folder, program, url);
      const asked = new URLSearchParams({
        response_type: 'code',
        client_id: clientIn(made.stdout).id,
        redirect_uri: REDIRECT,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      });
      const visitor = createVisitor(url);
      const consent = await visitor.visit(`${url}/oauth/authorize?${asked}`);
      const answer = await visitor.submit(consent, { decision: 'switch' });
      expect(answer.status).toBe(500);
      await running.stop();
    },
  );

  test.each(
    waysOf([
      ['express', 'orders:read'],
      ['fastify', 'orders:read'],
      ['hono', 'orders:read'],
      ['koa', 'orders:read'],
      ['node', 'orders:read'],
      ['kit', 'notes:read'],
    ]),
  )(
    'issues a token to the first client when created by create-portico: %s',
    async (framework, scope) => {
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const folder = folderWith();
      const args = ['--yes', `--framework=${framework}`, `--url=${url}`];
      expect((await create(folder, [...args, '--no-install'])).code).toBe(0);
      link(folder);
      const made = await create(folder, args);
      expect(made).toMatchObject({ code: 0 });
      const [email, password] =
        framework === 'kit'
          ? ['me@example.com', /password: (\S+)/.exec(made.stdout)?.[1] ?? '']
          : ['ada@example.com', 'portico'];
      const start =
        framework === 'kit'
          ? [path.join(ROOT, 'packages/portico/bin/portico.js'), 'serve']
          : ['--env-file=.env', 'server.ts'];
      const running = await startProgram(folder, [process.execPath, ...start], url);
      const names = framework === 'kit' ? { identifier: email, password } : { email, password };
      const send = (headers: Readonly<Record<string, string>>, body?: URLSearchParams | string) =>
        fetch(`${url}/login`, { method: 'POST', headers, body: body ?? null, redirect: 'manual' });
      // Another site sends the form, to sign the person in to an account that it knows.
      const others = [
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site', Origin: url },
        { Origin: 'https://evil.example' },
        { Origin: 'null' },
      ];
      for (const headers of others)
        expect((await send(headers, new URLSearchParams(names))).status).toBe(403);
      const odd = JSON.stringify({ ...names, return_to: { toString: 1 } });
      for (const [type, body] of [
        [],
        ['application/json', 'null'],
        ['application/json', odd],
        ['text/plain', 'a=b'],
      ])
        expect(
          (await send(type === undefined ? {} : { 'Content-Type': type }, body)).status,
        ).lessThan(500);
      for (const target of ['//', '//elsewhere.example/login'])
        expect((await fetch(`${url}${target}`)).status).toBe(404);
      const { tokens } = await runCodeFlow(
        url,
        clientIn(made.stdout),
        `openid ${scope}`,
        async (visitor, page) => {
          const answer = await visitor.submit(page, names);
          return visitor.visit(answer.headers.get('location') ?? '');
        },
      );
      expect(tokens.scope).toContain(scope);
      await running.stop();
    },
  );
});
