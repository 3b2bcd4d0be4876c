// @engines sqlite: clients see no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant } from './support/assistant.ts';
import { findChromium, launchChromium } from './support/chromium.ts';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { startBearerProxy } from './support/mcp/bearer-proxy.ts';
import { FIXTURE_TOOLS } from './support/mcp/fixture-tools.ts';
import { ADA, freePort, PASSWORD, registerClient, startPortal } from './support/portal.ts';

/** The official conformance suite, against our own tools interface and against the authorization server. */
const SUITE = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
let output: string;

beforeAll(async () => {
  output = await mkdtemp(path.join(tmpdir(), 'portico-conformance-'));
});
afterAll(() => rm(output, { recursive: true, force: true }));

function suite(command: string, options: Readonly<Record<string, string>>): RunningProcess {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return start([SUITE, command, ...args, '--output-dir', output], { cwd: output });
}

/** What the suite says at its end. */
function summaryOf(run: RunningProcess): string {
  return `${run.stdout().split('=== SUMMARY ===').at(-1)}${run.stderr()}`;
}

describe('the MCP conformance suite, revision 2025-11-25', () => {
  test.each([
    ['JSON', false, 'conformance-baseline-json.yml', 14],
    ['streaming', true, 'conformance-baseline.yml', 15],
  ])(
    'server, %s: every scenario passes but those that a server of tools does not offer',
    async (_, streaming, baseline, passing) => {
      const port = await freePort();
      const config = { mcp: { transport: { streaming }, allowed_origins: [`http://localhost:${port}`] } };
      const assistant = await startAssistant({ tools: FIXTURE_TOOLS, config });
      const proxy = await startBearerProxy(port, assistant.url, await assistant.serviceToken());
      try {
        const run = suite('server', {
          url: `${proxy.url}/mcp`,
          requirements: '2025-11-25',
          'expected-failures': path.join(ROOT, 'test', 'support', 'mcp', baseline),
        });
        const code = await run.ended();
        expect({ code, said: code === 0 ? '' : summaryOf(run) }).toEqual({ code: 0, said: '' });
        expect(run.stdout().match(/^✓ /gm)?.length).toBe(passing);
      } finally {
        await proxy.close();
        await assistant.close();
      }
    },
  );
});

describe.runIf(findChromium() !== null)('the conformance suite of authorization servers', () => {
  test('authorization: metadata and the code grant, with a browser that answers the consent', async () => {
    const portal = await startPortal();
    const port = await freePort();
    // The suite authenticates with `none` wherever a server offers it, so the client is a public one.
    const redirectUris = [`http://127.0.0.1:${port}/callback`];
    const client = await registerClient(portal, { redirectUris, public: true });
    const browser = await launchChromium(findChromium() ?? '');
    try {
      const run = suite('authorization', {
        url: portal.url,
        'client-id': client.id,
        port: String(port),
      });
      await run.says('/oauth/authorize?');
      const [url = ''] = /http\S+\/oauth\/authorize\?\S+/.exec(`${run.stdout()}${run.stderr()}`) ?? [];
      const page = await browser.newPage();
      await page.goto(url);
      await page.getByLabel('Email address').fill(ADA);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Allow' }).click();
      const code = await run.ended();
      expect({ code, said: code === 0 ? '' : summaryOf(run) }).toEqual({ code: 0, said: '' });
    } finally {
      await browser.close();
      await portal.close();
    }
  });
});
