// @engines sqlite, long: it loads applications, and does not use their database
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPortico, portico, ROOT, start } from './support/console.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-loading-'));
  for (const name of ['express', 'fastify']) {
    await mkdir(path.join(folder, 'node_modules'), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
  }
  await installPortico(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let count = 0;

/** A folder with these files; `list` runs a command in it that opens the store. */
async function application(files: Readonly<Record<string, string>>) {
  count += 1;
  const cwd = path.join(folder, String(count));
  for (const [file, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    await mkdir(path.dirname(path.join(cwd, file)), { recursive: true });
    await writeFile(path.join(cwd, file), text);
  }
  const run = (...args: readonly string[]) => portico(args, { cwd });
  return {
    cwd,
    run,
    list: async (...args: readonly string[]) => {
      const migrated = await run(...args, 'db:migrate', 'up');
      expect(migrated.code, migrated.stderr).toBe(0);
      return run(...args, 'oauth:client:list', '--json');
    },
  };
}

const CONFIG = `{ public_url: 'https://app.example', oauth_server: { name: 'App', scopes: { a: 'A' } } }`;
const HOST = `{
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async () => false,
  loginUrl: (returnTo: string) => '/login?' + new URLSearchParams({ return_to: returnTo }),
}`;
const IMPORTS = `
  import { defineApplication } from '@portico/kit';
  import { oauthServer } from 'portico';`;
const EXPORT = `export default defineApplication({ config: ${CONFIG}, plugins: [oauthServer()] });`;
const LISTED = { code: 0, stdout: '[]\n', stderr: '' };

/**
 * The folder in which the console looks for `.env`. The issuer in that folder's `.env` shows which
 * folder it is.
 */
describe('the folder of an application whose definition does not name it', () => {
  const definition = `${IMPORTS}
    export default defineApplication({
      config: (env) => ({ public_url: env['PUBLIC_URL'], oauth_server: { name: 'App', scopes: { a: 'A' } } }),
      plugins: [oauthServer()],
      commands(program, { application, print }) {
        program.command('where').action(async () => print((await application()).publicUrl));
      },
    });`;
  const env = (folder: string) => `PUBLIC_URL=https://${folder}.example`;

  // @shows HOST-4.4
  test.each([
    { from: '', args: ['where'], why: 'of the package.json that names the file' },
    { from: 'src', args: ['where'], why: 'of the package.json above that names the file' },
    { from: '', args: ['--app=src/own.ts', 'where'], why: 'that the console is called in' },
    {
      from: 'elsewhere',
      args: ['--app=../src/own.ts', 'where'],
      why: 'of the nearest package.json',
    },
  ])('is the folder $why: $args in /$from', async ({ from, args }) => {
    const { cwd } = await application({
      'package.json': '{"type":"module","portico":{"app":"src/own.ts"}}',
      'src/own.ts': definition,
      '.env': env('root'),
      'src/.env': env('src'),
      'elsewhere/.env': env('elsewhere'),
    });
    const answer = await portico(args, { cwd: path.join(cwd, from) });
    expect(answer).toMatchObject({ code: 0, stdout: 'https://root.example\n' });
  });

  test('is the folder of its file if that is the current folder or no package.json is above', async () => {
    const { cwd } = await application({
      'part/app.ts': definition,
      'part/.env': env('part'),
      '.env': env('root'),
    });
    const part = path.join(cwd, 'part');
    const expected = { code: 0, stdout: 'https://part.example\n' };
    expect(await portico(['where'], { cwd: part })).toMatchObject(expected);
    expect(await portico(['--app=app.ts', 'where'], { cwd: part })).toMatchObject(expected);
    await rm(path.join(cwd, 'package.json'));
    expect(
      await portico(['--app', path.join(part, 'app.ts'), 'where'], { cwd: ROOT }),
    ).toMatchObject(expected);
  });
});

describe('the .env file of the application, while the console runs', () => {
  const definition = `${IMPORTS}
    const own = process.env['OWN'];
    export default defineApplication({
      config: (env) => ({ public_url: env['PUBLIC_URL'], oauth_server: { name: 'App', scopes: { a: 'A' } } }),
      plugins: [oauthServer()],
      commands(program, { application, print }) {
        program.command('says').action(async () => print([(await application()).publicUrl, own, process.env['OWN']].join(' ')));
      },
    });`;

  // @shows HOST-1.2
  test('is in the environment of the console process, as when the server starts', async () => {
    const { run, cwd } = await application({
      'app.ts': definition,
      '.env': 'PUBLIC_URL=https://app.example\nOWN=file',
    });
    expect(await run('says')).toMatchObject({ code: 0, stdout: 'https://app.example file file\n' });
    const set = await portico(['says'], {
      cwd,
      env: { OWN: 'process', PUBLIC_URL: 'https://set.example' },
    });
    expect(set).toMatchObject({ code: 0, stdout: 'https://set.example process process\n' });
  });

  test('does not replace the .env of the folder that the definition names', async () => {
    const { run } = await application({
      'app.ts': definition.replace('config:', "directory: import.meta.dirname + '/part', config:"),
      '.env': 'PUBLIC_URL=https://root.example\nOWN=root',
      'part/.env': 'PUBLIC_URL=https://part.example',
    });
    expect(await run('says')).toMatchObject({
      code: 0,
      stdout: 'https://part.example root root\n',
    });
  });

  // @shows HOST-1.2
  test.each([
    ['one after the other', 'await run(folders[0]); await run(folders[1]);'],
    ['both at the same time', 'globalThis.during = () => run(folders[1]); await run(folders[0]);'],
  ])('does not leak to the next application in the same process, %s', async (_, runs) => {
    const folders: string[] = [];
    for (const name of ['a', 'b']) {
      const { cwd } = await application({
        'app.ts': definition.replace(
          'print([',
          name === 'a' ? 'print([await globalThis.during?.(), ' : 'print([',
        ),
        '.env': `PUBLIC_URL=https://${name}.example\nOWN=${name}`,
      });
      folders.push(cwd);
    }
    const { cwd } = await application({
      'script.js': `
        import { runConsole } from 'portico';
        const folders = ${JSON.stringify(folders)};
        const write = (text) => process.stdout.write(text);
        const run = (cwd) => runConsole(['says'], { cwd, stdout: write, stderr: write });
        ${runs}
        write(String([process.env.PUBLIC_URL, process.env.OWN]));
        process.exit();`,
    });
    const script = start([path.join(cwd, 'script.js')], { cwd });
    await script.ended();
    const said = script.stdout().split('\n');
    expect(said).toContain('https://b.example b b');
    expect(said).toContainEqual(expect.stringMatching(/https:\/\/a\.example a /));
    // The earlier values are back.
    expect(said.at(-1)).toBe(',');
  });
});

describe('an application is loaded by the console', () => {
  // @shows HOST-4.4
  test.each(['ts', 'mts', 'js', 'mjs'])(
    'from portico.config.%s, without a folder',
    async (ending) => {
      const { list } = await application({
        [`portico.config.${ending}`]: `${IMPORTS}\n${EXPORT}`,
        'app.js': 'throw new Error("not this one")',
      });
      expect(await list()).toMatchObject(LISTED);
    },
  );

  test('from the file in package.json, not from an app.ts beside it', async () => {
    const { list } = await application({
      'package.json': '{"type":"module","portico":{"app":"own.ts"}}',
      'own.ts': `${IMPORTS}\n${EXPORT}`,
      'app.ts': 'throw new Error("not this one")',
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('from its own file, with anything after the --', async () => {
    const { list, run } = await application({ 'app.ts': `${IMPORTS}\n${EXPORT}` });
    await list();
    const args = ['--redirect=https://a.example/cb', '--scope=a', '--', '--app=nowhere.ts'];
    expect(await run('oauth:client:create', ...args)).toMatchObject({ code: 0 });
    expect((await run('oauth:client:list')).stdout).toContain('--app=nowhere.ts  (confidential)');
  });

  test('from portico.config.cjs, and from compiled CommonJS', async () => {
    const compiled = `
      Object.defineProperty(exports, '__esModule', { value: true });
      const { oauthServer } = require('portico');
      exports.default = require('@portico/kit').defineApplication({ config: ${CONFIG}, plugins: [oauthServer()] });`;
    const host = "{ signedIn: () => null, loadAccount: () => null, loginUrl: '/login' }";
    const bare = `module.exports = { config: ${CONFIG}, plugins: [require('portico').oauthServer({ host: ${host} })] };`;
    expect(await (await application({ 'portico.config.cjs': bare })).list()).toMatchObject(LISTED);
    expect(
      await (await application({ 'dist/app.cjs': compiled })).list('--app=dist/app.cjs'),
    ).toMatchObject(LISTED);
  });

  test('from the file in --config, for an installation without the kit', async () => {
    const { run, list } = await application({
      'ops/server.ts': `
        import { oauthServer } from 'portico';
        export default { directory: undefined, config: ${CONFIG}, plugins: [oauthServer({ host: ${HOST} })] };`,
    });
    expect(await list('--config', 'ops/server.ts')).toMatchObject(LISTED);
    const made = await run(
      '--config=ops/server.ts',
      'oauth:client:create',
      'Shop',
      '--redirect=https://shop.example/cb',
      '--scope=a',
    );
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('client id:') as string,
    });
    expect(await run('--config=ops/server.ts', 'oauth:prune')).toMatchObject({ code: 0 });
    expect(await run('--config=ops/server.ts', 'oauth:keys:generate')).toMatchObject({ code: 0 });
    const doctor = await run('--config=ops/server.ts', 'oauth:server:doctor', '--json');
    expect(JSON.parse(doctor.stdout)).toHaveProperty('checks');
  });

  // @shows HOST-4.4
  test('if its sources import each other without an extension, by .js, by folder or by alias', async () => {
    const { list } = await application({
      'app.ts': `
        ${IMPORTS}
        import { one } from './lib/one';
        import { two } from './lib/two.js';
        import { three } from './lib';
        import { four } from '@/four';
        if (one + two + three + four !== 10) throw new Error('wrong ones');
        ${EXPORT}`,
      'lib/one.ts': 'export const one: number = 1;',
      'lib/two.ts': "import { one } from './one'; export const two: number = one + 1;",
      'lib/index.ts': 'export const three: number = 3;',
      'src/four.ts': 'export const four: number = 4;',
      'tsconfig.json': '{ "extends": "./tsconfig.base" }',
      'tsconfig.base.json':
        '{ // as people write it\n "compilerOptions": { "paths": { "@/*": ["./src/*"], }, }, }',
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('with the aliases of the last configuration if tsconfig.json extends several', async () => {
    const paths = (folder: string) =>
      JSON.stringify({ compilerOptions: { paths: { '@/*': [`./${folder}/*`] } } });
    const { list } = await application({
      'app.ts': `${IMPORTS}\nimport { which } from '@/which';\nif (which !== 'last') throw new Error(which);\n${EXPORT}`,
      'first/which.ts': "export const which: string = 'first';",
      'last/which.ts': "export const which: string = 'last';",
      'tsconfig.json': '{ "extends": ["./first.json", "./last.json"] }',
      'first.json': paths('first'),
      'last.json': paths('last'),
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('but packages resolve their imports as in Node, so wrong imports in them fail', async () => {
    const { run } = await application({
      'node_modules/wrong/package.json': '{"name":"wrong","type":"module","exports":"./index.js"}',
      'node_modules/wrong/index.js': "export { part } from './part';",
      'node_modules/wrong/part.js': 'export const part = 1;',
      'app.ts': `${IMPORTS}\nexport { part } from 'wrong';\n${EXPORT}`,
    });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/Cannot find module .*part/);
  });

  test('and an invalid configuration is not reported as a file that cannot be loaded', async () => {
    const { run } = await application({
      'app.ts': `import { openDatabase } from 'portico';\nopenDatabase('nonsense', { directory: '/' });`,
    });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The configuration cannot be used:\n/);
  });

  test('if it imports a file of a package without exports and without the extension', async () => {
    const { list } = await application({
      'node_modules/framework/package.json': '{"name":"framework"}',
      'node_modules/framework/headers.js': 'exports.headers = () => null;',
      'app.ts': `${IMPORTS}\nimport { headers } from 'framework/headers';\nexport const own = headers;\n${EXPORT}`,
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('if its packages import such a file or are server-only', async () => {
    const { list } = await application({
      'node_modules/framework/package.json': '{"name":"framework"}',
      'node_modules/framework/headers.js': 'exports.headers = () => null;',
      'node_modules/sign-in/package.json':
        '{"name":"sign-in","type":"module","exports":"./index.js"}',
      'node_modules/sign-in/index.js': "export { headers } from 'framework/headers';",
      'lib/session.ts': "import 'server-only';\nexport { headers } from 'sign-in';",
      'app.ts': `${IMPORTS}\nimport { headers } from './lib/session';\nexport const own = headers;\n${EXPORT}`,
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('and a missing import is still reported', async () => {
    const { run } = await application({ 'app.ts': `import './lost';\n${IMPORTS}\n${EXPORT}` });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be loaded: .*app\.ts[^]*Cannot find module .*lost/);
  });

  test('and syntax that only a compiler supports is reported as such', async () => {
    const { run } = await application({
      'app.ts': `export enum Colour { Red }\n${IMPORTS}\n${EXPORT}`,
    });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toContain('Pass the compiled file, for example: npx portico --app dist/app.js');
  });

  test.each([
    ['import', IMPORTS],
    ['export', 'export const own = 1;'],
  ])(
    'and a file that is CommonJS because of its package is reported as such: %s',
    async (_, first) => {
      const { run } = await application({
        'package.json': '{"type":"commonjs"}',
        'app.ts': `${first}\n${EXPORT}`,
      });
      const { code, stderr } = await run('oauth:client:list');
      expect(code).toBe(1);
      expect(stderr).toContain('npm pkg set type=module');
      expect(stderr).toContain(
        'pass the compiled file, for example npx portico --app dist/portico.js',
      );
    },
  );

  test('and options of createAuthorizationServer are not mistaken for options of the console', async () => {
    const { run } = await application({
      'portico.config.js': `export default { publicUrl: 'https://app.example', config: {}, host: {}, database: {} };`,
    });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toContain('plugins: [oauthServer({ host })], database }');
  });
});

describe('a console command', () => {
  // @shows HOST-4.5
  test('ends and prints all of its output even if timers of the application are active', async () => {
    const { list } = await application({
      'app.ts': `${IMPORTS}\nsetInterval(() => {}, 1000);\n${EXPORT}`,
    });
    expect(await list()).toMatchObject(LISTED);
  });

  test('ends with the right exit code if it fails', async () => {
    const { run } = await application({
      'app.ts': `${IMPORTS}\nsetInterval(() => {}, 1000);\n${EXPORT}`,
    });
    expect(await run('oauth:client:list')).toMatchObject({
      code: 1,
      stderr: 'Some database migrations are not applied. Run npx portico db:migrate up\n',
    });
  });

  // @shows HOST-4.5
  test.each([
    [
      'node:http',
      `import { createServer } from 'node:http';\ncreateServer().listen(0, () => console.log('up'));`,
    ],
    ['Express', `import express from 'express';\nexpress().listen(0, () => console.log('up'));`],
    [
      'node:http, which it does not wait for',
      `void import('node:http').then(({ createServer }) => createServer().listen(0, () => console.log('up')));`,
    ],
  ])('does not start the server that the file starts with %s', async (_, source) => {
    const { list } = await application({ 'app.ts': `${IMPORTS}\n${source}\n${EXPORT}` });
    const { stderr, ...listed } = await list();
    expect(listed).toEqual({ code: 0, stdout: '[]\n' });
    expect(stderr).toMatch(
      /app\.ts starts a server when it is loaded \(.*app\.ts:\d+\)\. This command did not start the server/,
    );
  });

  test('prints one message about several servers that it did not start', async () => {
    const { list } = await application({
      'app.ts': `${IMPORTS}
        import { createServer } from 'node:http';
        for (const _ of [1, 2]) createServer().listen(0);
        ${EXPORT}`,
    });
    const { stderr, ...listed } = await list();
    expect(listed).toEqual({ code: 0, stdout: '[]\n' });
    expect(stderr.match(/starts a server when it is loaded/g)).toHaveLength(1);
  });

  test.each([
    ['', ''],
    [' and keeps timers', 'setInterval(() => {}, 1000);'],
  ])('prints a clear message if the file waits for its server%s', async (_, more) => {
    const { run } = await application({
      'app.ts': `${IMPORTS}\nimport fastify from 'fastify';\n${more}\nawait fastify().listen({ port: 0 });\n${EXPORT}`,
    });
    const { code, stderr } = await run('oauth:client:list');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /app\.ts starts a server, so it never finishes loading\. Start the server in a separate file/,
    );
  });
});
