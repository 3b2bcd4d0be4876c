// @engines sqlite, long: it runs the commands of a page, which uses SQLite
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPortico, ROOT } from './support/console.ts';
import { blocksOf } from './support/documents.ts';
import { freePort } from './support/free-port.ts';

/**
 * Runs docs/requests.md from its first block to its last, in one shell, with the application of
 * docs/getting-started.md.
 */
const blocksIn = (page: string) => blocksOf(page, readFileSync(path.join(ROOT, page), 'utf8'));
const BLOCKS = blocksIn('docs/requests.md');
const DOCUMENTED = 'http://localhost:8090';

let folder: string;
let url: string;
let environment: Record<string, string>;
let server: ChildProcess;
let password: string;
let printed: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-requests-'));
  const port = await freePort();
  url = `http://localhost:${port}`;
  await mkdir(path.join(folder, 'node_modules'));
  await installPortico(folder);
  await mkdir(path.join(folder, 'bin'));
  const npx = path.join(folder, 'bin', 'npx');
  await writeFile(
    npx,
    `#!/bin/sh\nshift\nexec node ${path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js')} "$@"\n`,
  );
  await chmod(npx, 0o755);
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const started = blocksIn('docs/getting-started.md');
  await writeFile(
    path.join(folder, 'app.ts'),
    started.find(({ file }) => file === 'app.ts')?.code ?? '',
  );
  environment = {
    HOME: folder,
    APP_ENV: 'dev',
    PORT: String(port),
    PUBLIC_URL: url,
    PATH: [path.join(folder, 'bin'), path.dirname(process.execPath), process.env['PATH']].join(':'),
  };
  const commands =
    started.find(({ code }) => code.includes('db:migrate up'))?.code.split('\n') ?? [];
  const upToServe = commands.filter((line) => !line.endsWith(' serve'));
  if (upToServe.length === commands.length) throw new Error('The page does not serve');
  printed = await shell(`{ ${upToServe.join('\n')}\n} 2>&1`);
  password = /^password: (\S+)$/m.exec(printed)?.[1] ?? '';
  server = spawn('npx', ['portico', 'serve'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(server.stderr ?? server, 'data');
});
afterAll(async () => {
  if (server.exitCode === null && server.kill()) await once(server, 'close');
  await rm(folder, { recursive: true });
});

async function shell(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], {
    cwd: folder,
    env: environment,
  });
  return stdout;
}

/**
 * Runs the blocks, and saves the state of the shell for the next ones. Returns the output of each
 * block.
 */
async function run(blocks: typeof BLOCKS, changes: (code: string) => string = (code) => code) {
  const kept = path.join(folder, 'kept.sh');
  const scripts = blocks.map(({ code }) => changes(code.replaceAll(DOCUMENTED, url)));
  const before = `[ ! -e ${kept} ] || . ${kept} 2>/dev/null`;
  const after = `{ declare -p ISSUER REDIRECT_URI CLIENT API CODE_VERIFIER STATE; declare -f field base64url; } > ${kept} 2>/dev/null || true`;
  const said = await shell([before, scripts.join(`\nprintf '\\0'\n`), after].join('\n'));
  return said.split('\0').map((each) => each.trim());
}

const parsed = (text = '') => JSON.parse(text.slice(text.indexOf('{'))) as Record<string, unknown>;
const sectionOf = (text: string) => BLOCKS.findIndex(({ code }) => code.includes(text));

describe('docs/getting-started.md', () => {
  /** Replaces the ids, secrets and passwords, because they differ in each run. */
  const withoutValues = (text: string) =>
    text.replaceAll(
      /(?<=^(?:password|client id|client secret): +)\S+|(?<=signing key )\S+(?=\.)/gm,
      '…',
    );

  test('shows the real output of its commands', () => {
    const shown = blocksIn('docs/getting-started.md').find(({ code }) =>
      code.startsWith('Applied'),
    );
    const [beforeServing = ''] = shown?.code.split(/^(?=Listening)/m) ?? [];
    expect(withoutValues(printed)).toBe(withoutValues(beforeServing));
  });
});

describe('docs/requests.md', () => {
  // @shows AS-10.1
  test('works as written, with the responses that it shows', async () => {
    const code = sectionOf("CODE='…'");
    const printed = await run(BLOCKS.slice(0, code), (each) =>
      each.replace("PASSWORD='…'", `PASSWORD='${password}'`),
    );
    expect(printed[1]).toContain(`"issuer":"${url}"`);
    expect(printed[1]).toContain('"kty":"RSA"');

    const { searchParams: answer } = new URL(printed.at(-1) ?? '');
    expect([answer.get('iss'), answer.get('code')]).toEqual([url, expect.any(String)]);

    const said = await run(BLOCKS.slice(code), (each) =>
      each.replace("CODE='…'", `CODE='${answer.get('code')}'`),
    );
    const [tokens, opened = '', refreshed, introspected, revoked = '', program] = said;
    expect(Object.keys(parsed(tokens)).toSorted()).toEqual(
      ['access_token', 'expires_in', 'id_token', 'refresh_token', 'scope', 'token_type'].toSorted(),
    );
    expect(opened).toMatch(/^\{"of":"My Name"\}\s*\{"sub":"[^"]+"\}$/);
    expect(parsed(refreshed)).toMatchObject({ refresh_token: expect.any(String) });
    expect(parsed(introspected)).toMatchObject({ active: true, scope: 'openid notes:read' });
    expect(revoked).toMatch(/^\{"active":false\}\s*\{"error":"invalid_grant"/);
    expect(parsed(program)).not.toHaveProperty('refresh_token');
    expect(said).toHaveLength(6);
  });

  test('shows the exact refusal of a client that may not introspect', async () => {
    const [setUp, asks] = [BLOCKS[sectionOf('field()')], BLOCKS[sectionOf('/oauth/introspect -d')]];
    const script = [setUp?.code, 'API=$CLIENT', 'ACCESS_TOKEN=x', asks?.code]
      .join('\n')
      .replaceAll(DOCUMENTED, url);
    const { error, error_description: description } = parsed(await shell(script));
    const page = readFileSync(path.join(ROOT, 'docs/requests.md'), 'utf8').replaceAll(/\s+/g, ' ');
    expect(page).toContain(`the response is \`${String(error)}\`, "${String(description)}"`);
  });
});
