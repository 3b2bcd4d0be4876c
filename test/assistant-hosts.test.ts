// @engines sqlite, needs npm: programs see no difference between engines
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from './support/free-port.ts';
import { startBareHost, type BareHost } from './support/mcp/bare-host.ts';
import {
  HOSTS,
  installHosts,
  startHost,
  startOpener,
  type OpenedBrowser,
  type RunningHost,
} from './support/mcp/hosts.ts';
import { ADA, signIn } from './support/portal.ts';
import { createVisitor, isRedirect, locationOf } from './support/visitor.ts';

/**
 * The published Codex, opencode and Gemini CLI, with the configuration of
 * docs/connecting-assistants.md. Each starts with the URL of the tools and ends with a tool call.
 * They need no account and no model for this.
 */

/** In milliseconds: they are large, and are installed first. */
const INSTALLING = 900_000;
const CONNECTING = 240_000;

let host: BareHost;
let folder: string;
let opener: OpenedBrowser;
let home: string;
const running: RunningHost[] = [];

beforeAll(async () => {
  await installHosts();
  folder = await mkdtemp(path.join(tmpdir(), 'portico-hosts-'));
  await mkdir(path.join(folder, 'bin'));
  opener = await startOpener(path.join(folder, 'bin'));
  host = await startBareHost();
}, INSTALLING);
beforeEach(async () => {
  home = await mkdtemp(path.join(folder, 'home-'));
});
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  await opener.close();
  await host.close();
  await rm(folder, { recursive: true, force: true });
});

function start(command: readonly string[]): RunningHost {
  const started = startHost(command, { home, opener });
  running.push(started);
  return started;
}

/**
 * Ada signs in, allows the request, and returns to the program; resolves to the requested scopes.
 */
async function allow(): Promise<URLSearchParams> {
  const url = await opener.opened();
  expect(url.searchParams.get('resource')).toBe(host.assistant.resource);
  const ada = createVisitor(host.assistant.url);
  const signedIn = await signIn(ada, await ada.visit(url.href), ADA);
  const consent = isRedirect(signedIn) ? await ada.visit(locationOf(signedIn).href) : signedIn;
  const back = locationOf(await ada.submit(consent, { decision: 'allow' }));
  expect((await fetch(back)).status).toBe(200);
  return url.searchParams;
}

const inOrder = (scope: string | null) => (scope ?? '').split(' ').toSorted();

describe('Codex', () => {
  const configure = async () => {
    await mkdir(path.join(home, '.codex'));
    const file = path.join(home, '.codex', 'config.toml');
    await writeFile(file, `[mcp_servers.kitchen]\nurl = "${host.assistant.resource}"\n`);
  };

  test(
    'uses its client document if documents are enabled',
    async () => {
      await configure();
      start([...HOSTS.codex, 'mcp', 'login', 'kitchen']);
      const asked = (await opener.opened()).searchParams;
      expect(asked.get('client_id')).toBe('https://chatgpt.com/oauth/codex/client.json');
      expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    },
    CONNECTING,
  );

  test(
    'registers itself, is granted the scopes of the resource, and calls a tool',
    async () => {
      await configure();
      const login = start([
        ...HOSTS.codex,
        'mcp',
        'login',
        'kitchen',
        '--oauth-client-registration',
        'dcr',
      ]);
      const asked = await allow();
      expect(asked.get('scope')).toBe('mcp:tools');
      expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
      expect(await login.ended).toBe(0);

      const server = start([...HOSTS.codex, 'app-server']);
      const ask = async (id: number, method: string, params: object) => {
        server.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        return JSON.parse(await server.line(`{"id":${id},`)) as { readonly result: unknown };
      };
      await ask(1, 'initialize', { clientInfo: { name: 'test', version: '1' } });
      server.child.stdin?.write('{"jsonrpc":"2.0","method":"initialized"}\n');
      const { result } = await ask(2, 'thread/start', {});
      const { thread } = result as { readonly thread: { readonly id: string } };
      const call = { threadId: thread.id, server: 'kitchen', tool: 'my_account', arguments: {} };
      expect(JSON.stringify(await ask(3, 'mcpServer/tool/call', call))).toContain('Ada Lovelace');
    },
    CONNECTING,
  );
});

test(
  'opencode registers itself even if documents are enabled, is authorized, and connects',
  async () => {
    const callbackPort = await freePort();
    const kitchen = { type: 'remote', url: host.assistant.resource, oauth: { callbackPort } };
    await writeFile(path.join(home, 'opencode.json'), JSON.stringify({ mcp: { kitchen } }));
    const auth = start([...HOSTS.opencode, 'mcp', 'auth', 'kitchen']);
    const asked = await allow();
    expect(asked.get('client_id')).toMatch(/^[0-9a-f]{32}$/);
    expect(asked.get('redirect_uri')).toBe(`http://127.0.0.1:${callbackPort}/mcp/oauth/callback`);
    expect(await auth.ended).toBe(0);
    const list = start([...HOSTS.opencode, 'mcp', 'list']);
    expect(await list.ended).toBe(0);
    expect(list.said()).toMatch(/kitchen.*connected/);
  },
  CONNECTING,
);

// @shows AS-6.25, AS-7.19
test(
  'Gemini CLI requests every scope in the metadata, gets the available ones, and calls a tool',
  async () => {
    const gemini = start([...HOSTS.gemini, host.assistant.resource, 'my_account']);
    gemini.child.stdin?.write('y\n');
    const metadata = await fetch(`${host.assistant.url}/.well-known/oauth-authorization-server`);
    const { scopes_supported: named } = (await metadata.json()) as {
      scopes_supported: readonly string[];
    };
    const asked = await allow();
    expect(inOrder(asked.get('scope'))).toEqual(named.toSorted());
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/localhost:\d+\/oauth\/callback$/);
    const result = JSON.parse((await gemini.line('RESULT ')).slice('RESULT '.length)) as {
      readonly scope: string;
      readonly tools: readonly string[];
    };
    expect(inOrder(result.scope)).toEqual([
      'email',
      'mcp:tools',
      'openid',
      'orders:read',
      'profile',
    ]);
    expect(result.tools).toContain('my_account');
    expect(JSON.stringify(result)).toContain('Ada Lovelace');
  },
  CONNECTING,
);
