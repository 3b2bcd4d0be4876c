// @engines sqlite, long: it reads the pages, and runs their programs on SQLite
import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPortico, ROOT } from './support/console.ts';
import { codeBlocks, type CodeBlock } from './support/documents.ts';
import { PASSWORD, REDIRECT_URI } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';
import { createVisitor, locationOf } from './support/visitor.ts';

const BLOCKS = codeBlocks();
/** Its tsconfig.json applies to the files of every page. */
const STARTED = 'docs/getting-started.md';
const COMPILED = BLOCKS.filter(
  ({ info, partOf }) => /^tsx?$/.test(info[0] ?? '') && partOf === null,
);
const PROGRAMS = BLOCKS.filter(({ info }) => info[0] === 'sh' && info[1] === 'run');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-docs-'));
  await install();
  for (const page of new Set(
    COMPILED.map(({ page }) => page).filter((page) => page.startsWith('examples/')),
  ))
    for (const file of globSync(`${path.dirname(page)}/*.ts`, { cwd: ROOT }))
      await cp(path.join(ROOT, file), path.join(folder, nameOf(page), path.basename(file)));
  for (const block of BLOCKS.filter(({ file }) => /\.(?:tsx?|json)$/.test(file))) {
    const file = path.join(folderOf(block), block.file);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, block.whole);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The packages of this repository and Portico itself, as `npm install` would leave them. */
async function install(): Promise<void> {
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules);
  const installed = path.join(ROOT, 'node_modules');
  for (const name of readdirSync(installed).filter(
    (each) => !['portico', '@portico'].includes(each),
  ))
    await symlink(path.join(installed, name), path.join(modules, name));
  await installPortico(path.dirname(modules));
  await mkdir(path.join(folder, 'bin'));
  const npx = path.join(folder, 'bin', 'npx');
  await writeFile(
    npx,
    `#!/bin/sh\nshift\nexec node ${path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js')} "$@"\n`,
  );
  await chmod(npx, 0o755);
}

const nameOf = (page: string) => page.replaceAll(/[^\w]+/g, '-');
const folderOf = ({ page }: CodeBlock) => path.join(folder, nameOf(page));

describe('the code blocks of the documentation', () => {
  const pages = [...new Set(COMPILED.map(({ page }) => page))];
  let output: readonly string[];
  beforeAll(async () => {
    const named = BLOCKS.find(
      ({ page, code }) => page === STARTED && code.includes('compilerOptions'),
    );
    const settings = JSON.parse(named?.code ?? '{}') as { readonly compilerOptions?: object };
    const compilerOptions = { ...settings.compilerOptions, skipLibCheck: true };
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: pages.map((page) => `${nameOf(page)}/**/*`) }),
    );
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder], {
      cwd: folder,
    }).catch((error: { readonly stdout?: string; readonly message: string }) => ({
      stdout: error.stdout ?? error.message,
    }));
    output = stdout.split('\n').filter((line) => line !== '');
  });

  // @shows HOST-5.1
  test.each(pages)('compile: %s', (page) => {
    expect(output.filter((line) => line.startsWith(`${nameOf(page)}/`))).toEqual([]);
  });

  test('compile without any other message', () => {
    const known = new Set(pages.map(nameOf));
    expect(output.filter((line) => !known.has(line.split('/')[0] ?? ''))).toEqual([]);
  });

  test('are part of the tested file that they name', () => {
    const parts = BLOCKS.filter(({ partOf }) => partOf !== null);
    const wrong = parts.filter(({ partOf, code }) => {
      const file = path.join(ROOT, partOf ?? '');
      const own = code.replace(/^\/\/ [\w./[\]-]+\n/, '').trim();
      return !existsSync(file) || !readFileSync(file, 'utf8').includes(own);
    });
    expect(wrong.map(({ page, line, partOf }) => `${page}:${line} is not of ${partOf}`)).toEqual(
      [],
    );
  });

  test('install only packages that the tests use too', () => {
    const lines = BLOCKS.filter(
      ({ info, page }) => info[0] === 'sh' && page.startsWith('docs/mounting/'),
    )
      .flatMap(({ code }) => code.split('\n'))
      .filter((line) => line.startsWith('npm install '));
    const packages = lines.flatMap((line) => line.split(/\s+#/)[0]?.split(' ').slice(2) ?? []);
    const names = packages
      .filter((each) => !/^(?:-|\.\.\/portico\/)/.test(each))
      .map((each) => each.replace(/(.)@.*$/, '$1'));
    const ofStacks = globSync('examples/*/package.json', { cwd: ROOT }).map((file) =>
      readFileSync(path.join(ROOT, file), 'utf8'),
    );
    const isTested = (name: string) =>
      existsSync(path.join(folder, 'node_modules', name)) ||
      ofStacks.some((manifest) => manifest.includes(`"${name}":`));
    expect(names.filter((name) => !isTested(name))).toEqual([]);
  });
});

// Portico's packages contain zod, so `npm install portico` does not install it.
test('pages say how to install zod if their code imports it', () => {
  const importing = BLOCKS.filter(({ code }) => code.includes(" from 'zod'"));
  const isTold = (page: string) =>
    readFileSync(path.join(ROOT, page), 'utf8').includes('npm install zod');
  expect(importing.length).toBeGreaterThan(0);
  expect(importing.map(({ page }) => page).filter((page) => !isTold(page))).toEqual([]);
});

describe('a program of the documentation, run with the commands on its page', () => {
  // @shows HOST-5.1
  test.each(
    PROGRAMS.slice(0, SCALE.documentedPrograms).map((block) => [block.page, block] as const),
  )(
    '%s: a person signs in after a mistyped password and allows, and the token works',
    async (_, block) => {
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const running = start(block, port);
      try {
        await running.says(url);
        const { id, secret } = await registerClient(block, port);
        const config = await openid.discovery(
          new URL(url),
          id,
          undefined,
          openid.ClientSecretBasic(secret),
          {
            execute: [openid.allowInsecureRequests],
          },
        );
        expect((await fetch(`${url}/api/orders`)).status).toBe(401);

        const verifier = openid.randomPKCECodeVerifier();
        const request = openid.buildAuthorizationUrl(config, {
          redirect_uri: REDIRECT_URI,
          scope: 'openid orders:read',
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        const visitor = createVisitor(url);
        const login = await visitor.visit(request.href);
        const mistyped = await visitor.submit(login, {
          email: 'ada@example.com',
          password: 'protico',
        });
        const again = await visitor.visit(locationOf(mistyped).href);
        const back = await visitor.submit(again, { email: 'ada@example.com', password: PASSWORD });
        const consent = await visitor.visit(locationOf(back).href);
        const callback = locationOf(await visitor.submit(consent, { decision: 'allow' }));
        const tokens = await openid.authorizationCodeGrant(config, callback, {
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const orders = await fetch(`${url}/api/orders`, {
          headers: { Authorization: `Bearer ${tokens.access_token}` },
        });
        expect([orders.status, await orders.text()]).toEqual([200, expect.stringContaining('Ada')]);
      } finally {
        await running.stop();
      }
    },
  );
});

/** The environment of the page's reader: their Node, `npx`, and the variables of the page. */
const environment = (port: number) => ({
  HOME: folder,
  APP_ENV: 'dev',
  PORT: String(port),
  PATH: [path.join(folder, 'bin'), path.dirname(process.execPath), process.env['PATH']].join(':'),
});

/** Runs all commands except the installation, which is already done. */
function start(block: CodeBlock, port: number) {
  const commands = block.code.split('\n').filter((line) => !line.startsWith('npm install '));
  const child = spawn('sh', ['-ec', commands.join('\n')], {
    cwd: folderOf(block),
    env: environment(port),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      for (const hear of heard) hear();
    });
  }
  return {
    async says(text: string) {
      let ended = false;
      void closed.then(() => (ended = true));
      while (!said.includes(text)) {
        if (ended) throw new Error(`It ended before it said '${text}':\n${said}`);
        await Promise.race([closed, new Promise<void>((resolve) => heard.add(resolve))]);
      }
    },
    async stop() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid);
      await closed;
    },
  };
}

async function registerClient(block: CodeBlock, port: number) {
  const create = [
    'oauth:client:create',
    'Shop',
    `--redirect=${REDIRECT_URI}`,
    '--scope=openid,orders:read',
  ];
  const app = / (--app \S+) /.exec(block.code)?.[1]?.split(' ') ?? [];
  const { stdout } = await promisify(execFile)('npx', ['portico', ...app, ...create, '--json'], {
    cwd: folderOf(block),
    env: environment(port),
  });
  const { client_id: id, client_secret: secret } = JSON.parse(stdout) as Record<string, string>;
  return { id: id ?? '', secret: secret ?? '' };
}
