// @engines sqlite, long: the output on a terminal is the same on every engine
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPortico, portico, ROOT } from './support/console.ts';

let folder: string;
const EMPTY_LINE = '\r\u{1b}[2K';

/** An application whose schema has as many own steps as STEPS says. */
const APPLICATION = `
import { defineApplication } from '@portico/kit';
import { oauthServer } from 'portico';
export default defineApplication({
  plugins: [oauthServer()],
  config: () => ({ public_url: 'https://a.example', oauth_server: { name: 'A', scopes: {} } }),
  migrations: Array.from({ length: Number(process.env.STEPS) }, (_, index) => ({
    name: 'shop_000' + (index + 1),
    async up({ change }) { await change('CREATE TABLE shop_' + index + ' (id INTEGER)'); },
  })),
});
`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-progress-'));
  await mkdir(path.join(folder, 'node_modules'));
  await installPortico(folder);
  await writeFile(path.join(folder, 'portico.config.mjs'), APPLICATION);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Runs a shell command on a pseudo terminal; returns its exit code and everything the terminal
 * received.
 */
async function onTerminal(
  steps: number,
  command: string,
): Promise<{ code: unknown; sent: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const env = {
    PATH,
    HOME,
    STEPS: String(steps),
    NODE: process.execPath,
    BIN: path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
  };
  const child = spawn('script', ['-qec', `stty cols 60; ${command}`, '/dev/null'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let sent = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (sent += text));
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, sent };
}

describe('the progress of long work', () => {
  test('is not printed for a new schema without a terminal', async () => {
    const options = { cwd: folder, env: { STEPS: '1' } };
    const { code, stderr } = await portico(['db:migrate', 'up'], options);
    expect([code, stderr]).toEqual([0, '']);
  });

  // @shows HOST-4.6
  test('is one line on a terminal, which is rewritten, and cleared before the result', async () => {
    const { code, sent } = await onTerminal(3, '"$NODE" "$BIN" db:migrate up');
    expect(code, sent).toBe(0);
    expect(sent.split(EMPTY_LINE)).toEqual([
      '',
      'Applying the schema (0 s)',
      expect.stringMatching(/^Applying the schema: shop_0002, 1 of 2 \(\d s\)$/),
      expect.stringMatching(/^Applying the schema: shop_0003, 2 of 2 \(\d s\)$/),
      'Applied shop_0002.\r\nApplied shop_0003.\r\n',
    ]);
  });

  // @shows HOST-4.6
  test('is one line on standard error per step for a schema with rows, without a terminal', async () => {
    const options = { cwd: folder, env: { STEPS: '4' } };
    const { stdout, stderr } = await portico(['db:migrate', 'up', '--json'], options);
    expect(JSON.parse(stdout)).toEqual({ applied: ['shop_0004'] });
    expect(stderr).toBe('Applying the schema: shop_0004, 1 of 1 (0 s)\n');
  });

  // @shows HOST-4.6
  test('does not change JSON output, even if standard error is a terminal', async () => {
    const { code, sent } = await onTerminal(4, '"$NODE" "$BIN" oauth:prune --json >pruned.json');
    expect(code, sent).toBe(0);
    expect(sent).toContain(`${EMPTY_LINE}Removing expired rows`);
    expect(sent.endsWith(EMPTY_LINE)).toBe(true);
    expect(JSON.parse(await readFile(path.join(folder, 'pruned.json'), 'utf8'))).toMatchObject({
      families: 0,
    });
  });

  // @shows HOST-4.6
  test('has no control codes on a terminal that cannot rewrite lines', async () => {
    const { code, sent } = await onTerminal(4, 'TERM=dumb "$NODE" "$BIN" oauth:prune');
    expect(code, sent).toBe(0);
    expect(sent).not.toContain('\u{1b}');
  });
});
