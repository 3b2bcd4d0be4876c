// @engines sqlite, needs chromium: clients see no difference between engines
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant } from './support/assistant.ts';
import { launchChromium } from './support/chromium.ts';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { startClient } from './support/mcp/bare-client.ts';
import { FIXTURE_TOOLS } from './support/mcp/fixture-tools.ts';
import {
  ADA,
  PASSWORD,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { createVisitor, locationOf } from './support/visitor.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';

/**
 * The official conformance suite, against our own tools interface and against the authorization
 * server.
 */
const SUITE = path.join(
  ROOT,
  'node_modules',
  '@modelcontextprotocol',
  'conformance',
  'dist',
  'index.js',
);
let output: string;

beforeAll(async () => {
  output = await mkdtemp(path.join(tmpdir(), 'portico-conformance-'));
});
afterAll(() => rm(output, { recursive: true, force: true }));

function suite(command: string, options: Readonly<Record<string, string>>): RunningProcess {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return start([SUITE, command, ...args, '--output-dir', output], { cwd: output });
}

/** A proxy on loopback that adds the bearer token, for callers that cannot send one. */
async function startBearerProxy(port: number, target: string, token: string) {
  const { hostname, port: targetPort } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const forwarded = request(
      {
        host: hostname,
        port: targetPort,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(port, 'localhost');
  await once(server, 'listening');
  return {
    url: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The last lines that the suite prints. */
function summaryOf(run: RunningProcess): string {
  return `${run.stdout().split('=== SUMMARY ===').at(-1)}${run.stderr()}`;
}

/**
 * A revision of MCP, the option of the suite that selects it, and the number of scenarios that
 * pass. The baseline lists the other scenarios with reasons.
 */
interface Revision {
  readonly version: string;
  readonly asked: 'requirements' | 'spec-version';
  readonly streaming: boolean;
  readonly baseline: string;
  readonly passing: number;
}

const REVISIONS: readonly Revision[] = [
  {
    version: '2025-06-18',
    asked: 'spec-version',
    streaming: false,
    baseline: 'conformance-baseline-2025-06-18-json.yml',
    passing: 10,
  },
  {
    version: '2025-06-18',
    asked: 'spec-version',
    streaming: true,
    baseline: 'conformance-baseline-2025-06-18.yml',
    passing: 11,
  },
  {
    version: '2025-11-25',
    asked: 'requirements',
    streaming: false,
    baseline: 'conformance-baseline-json.yml',
    passing: 14,
  },
  {
    version: '2025-11-25',
    asked: 'requirements',
    streaming: true,
    baseline: 'conformance-baseline.yml',
    passing: 15,
  },
  {
    version: '2026-07-28',
    asked: 'requirements',
    streaming: false,
    baseline: 'conformance-baseline-2026-07-28-json.yml',
    passing: 28,
  },
  {
    version: '2026-07-28',
    asked: 'requirements',
    streaming: true,
    baseline: 'conformance-baseline-2026-07-28.yml',
    passing: 29,
  },
];

const ALL_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The tools of the suite, behind a proxy that adds the token. */
async function serve(streaming: boolean, versions: readonly string[] | null): Promise<Served> {
  const port = await freePort();
  const offered = versions === null ? {} : { protocol_versions: versions };
  const mcp = {
    transport: { streaming },
    allowed_origins: [`http://localhost:${port}`],
    ...offered,
  };
  const assistant = await startAssistant({ tools: FIXTURE_TOOLS, config: { mcp } });
  const proxy = await startBearerProxy(port, assistant.url, await assistant.serviceToken());
  return {
    url: `${proxy.url}/mcp`,
    async close() {
      await proxy.close();
      await assistant.close();
    },
  };
}

async function expectConforming(
  at: Served,
  { version, asked, baseline, passing }: Revision,
): Promise<void> {
  const run = suite('server', {
    url: at.url,
    [asked]: version,
    'expected-failures': path.join(ROOT, 'test', 'support', 'mcp', baseline),
  });
  const code = await run.ended();
  expect({ code, said: code === 0 ? '' : summaryOf(run) }).toEqual({ code: 0, said: '' });
  expect(run.stdout().match(/^✓ /gm)?.length).toBe(passing);
}

describe.each([false, true])(
  'every scenario for servers of tools in the MCP conformance suite passes, streaming: %s',
  (streaming) => {
    let byDefault: Served;
    let offeringAll: Served;
    beforeAll(async () => {
      byDefault = await serve(streaming, null);
      offeringAll = await serve(streaming, ALL_VERSIONS);
    });
    afterAll(async () => {
      await byDefault.close();
      await offeringAll.close();
    });
    const revisions = REVISIONS.filter((revision) => revision.streaming === streaming);

    // @shows MCP-15.1
    test.each(revisions)(
      'with revision $version, if the server offers all versions',
      async (revision) => {
        await expectConforming(offeringAll, revision);
      },
    );

    test.each(revisions.filter(({ version }) => version === '2025-11-25'))(
      'with revision $version, by default',
      async (revision) => {
        await expectConforming(byDefault, revision);
      },
    );
  },
);

describe('a client with DPoP-bound tokens', () => {
  const PROGRAM = [process.execPath, path.join(ROOT, 'test', 'clients', 'typescript', 'dpop.ts')];

  // The suite tests DPoP only for clients. Here it tests the client that calls our tools.
  test.each(['auth/dpop', 'auth/dpop-nonce'])(
    'passes the DPoP scenario of the suite: %s',
    async (scenario) => {
      // The suite starts it through a shell, and leaves its input open.
      const run = suite('client', { command: `${PROGRAM.join(' ')} < /dev/null`, scenario });
      const code = await run.ended();
      expect({ code, said: code === 0 ? '' : summaryOf(run) }).toEqual({ code: 0, said: '' });
    },
  );

  // @shows RFC9449-5a, RFC9449-8
  test.each([false, true])(
    'calls tools on a server that requires DPoP, with nonces: %s',
    async (nonces) => {
      const assistant = await startAssistant({
        config: { oauth_server: { dpop: 'require', dpop_nonces: nonces, registration: 'open' } },
      });
      const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
      const program = { name: 'DPoP', command: () => Promise.resolve(PROGRAM) };
      const client = await startClient(program, [assistant.resource, redirectUri], output);
      try {
        const { authorize = '' } = await client.next();
        const visitor = createVisitor(assistant.url);
        const signedIn = await signIn(visitor, await visitor.visit(authorize), ADA);
        const consent = await visitor.visit(locationOf(signedIn).href);
        client.tell(locationOf(await visitor.submit(consent, { decision: 'allow' })).href);
        expect(await client.next()).toHaveProperty('connected');
        client.tell('call my_account');
        expect(await client.next()).toEqual({
          answer: expect.stringContaining('Ada Lovelace') as string,
        });
      } finally {
        await client.close();
        await assistant.close();
      }
    },
  );
});

describe('the conformance suite of authorization servers', () => {
  let portal: RunningPortal;
  let documents: DocumentHost;
  beforeAll(async () => {
    documents = await startDocumentHost();
    const config = { oauth_server: { client_id_metadata_documents: true, registration: 'open' } };
    portal = await startPortal({ config, outbound: documents.outbound });
  });
  afterAll(async () => {
    await portal.close();
    await documents.close();
  });

  // The suite authenticates with `none` if a server offers it, so the client is a public one.
  const metadata = (redirectUri: string) => ({
    client_name: 'Conformance',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
  test.each<[string, (redirectUri: string) => Promise<string>]>([
    [
      'that an operator registered',
      async (redirectUri) =>
        (await registerClient(portal, { redirectUris: [redirectUri], public: true })).id,
    ],
    [
      'that registered itself',
      async (redirectUri) => {
        const response = await fetch(`${portal.url}/oauth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(metadata(redirectUri)),
        });
        return ((await response.json()) as { client_id: string }).client_id;
      },
    ],
    [
      'that is the URL of its document',
      (redirectUri) => Promise.resolve(documents.publish('/client.json', metadata(redirectUri))),
    ],
  ])('passes for metadata and the code grant, for a client %s', async (_, clientOf) => {
    const port = await freePort();
    const clientId = await clientOf(`http://127.0.0.1:${port}/callback`);
    const browser = await launchChromium();
    try {
      const run = suite('authorization', {
        url: portal.url,
        'client-id': clientId,
        port: String(port),
      });
      await run.says('/oauth/authorize?');
      const [url = ''] =
        /http\S+\/oauth\/authorize\?\S+/.exec(`${run.stdout()}${run.stderr()}`) ?? [];
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
    }
  });
});
