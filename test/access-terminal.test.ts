// @engines sqlite, long: it tests the questions on a terminal
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

let portal: RunningPortal;

beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());

/** Runs the command on a pseudo terminal, and types this after its question. */
async function asked(id: string, answer: string): Promise<{ code: unknown; said: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const bin = path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js');
  const child = spawn(
    'script',
    ['-qec', '"$NODE" "$BIN" oauth:person:erase accounts "$ID"', '/dev/null'],
    {
      cwd: path.join(ROOT, 'examples', 'portal'),
      env: { ...portal.env, PATH, HOME, NODE: process.execPath, BIN: bin, ID: id },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  let said = '';
  let isAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (isAnswered || !said.includes('Type yes to continue: ')) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, said };
}

// @shows AS-31.8
test('erasing a person on a terminal asks for confirmation, and continues only after yes', async () => {
  const client = await registerClient(portal);
  const tokens = await obtainTokens(portal, client, ADA);
  const { id } = (await portal.server.access.list()).items[0]?.person ?? { id: '' };
  // The last one is the end of the input.
  for (const answer of ['no\r', '\u{4}']) {
    const { code, said } = await asked(id, answer);
    expect(said).toContain(`Everything stored about the person "accounts" "${id}" will be removed`);
    expect(said).toContain('Nothing was changed.');
    expect(code).toBe(1);
  }
  expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
  const { code, said } = await asked(id, 'yes\r');
  expect(said).toContain('Removed 1 authorizations');
  expect(code).toBe(0);
  expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
});
