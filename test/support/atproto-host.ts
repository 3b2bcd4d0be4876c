import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import {
  createAuthorizationServer,
  migrate,
  oauthServerConfiguration,
  oauthServerMigrations,
  token,
  type Host,
  type OAuthServerConfigInput,
  type OutboundOptions,
} from 'portico';
import { createDatabase } from './database.ts';
import { openOwnStore } from './own-store.ts';

/**
 * A host whose people come from the AT Protocol, so their ids are DIDs. The host adds the parts of
 * that protocol that Portico lacks: handles, a document for each DID, and `sub` in the response of
 * the token endpoint.
 */
export interface AtprotoHost {
  readonly origin: string;
  /** Sends a client's requests to this host, or to the directory of DIDs. */
  readonly fetch: (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;
  /**
   * Lets the signed-in person allow the request at this URL. Returns the address to which the host
   * then redirects the browser.
   */
  allow(url: URL): Promise<URL>;
  /** The responses of this host, such as `POST /oauth/token 200`. */
  readonly answered: readonly string[];
  close(): Promise<void>;
}

/**
 * The host is on loopback, because the server fetches client documents from this machine only in
 * development.
 */
export const ORIGIN = 'http://localhost:2583';
export const DID = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
export const HANDLE = 'ada.pds.example';

/** The context of a request. It contains the person whose tokens were issued. */
interface Issued {
  did: string | null;
}

const host: Host<Issued> = {
  signedIn: async () => ({ provider: 'pds', id: DID }),
  loadAccount: async (reference) => ({
    reference,
    isActive: () => true,
    getProfile: () => ({ name: 'Ada Lovelace' }),
  }),
  holdsPermission: async () => true,
  browserSecret: async () => 'the secret of this browser alone',
  loginUrl: '/login',
  passwordHasher: {
    hash: async (password) => `#${password}`,
    verify: async (one, other) => `#${one}` === other,
  },
  render: async (_, data) => JSON.stringify(data),
  audit: async (event, context) => {
    if (event.type === 'tokens_issued') context.did = event.person?.id ?? null;
  },
  log: { debug() {}, info() {}, warning() {}, error() {} },
};

export interface AtprotoHostOptions {
  readonly config: Partial<OAuthServerConfigInput>;
  /** The location of client documents. */
  readonly outbound: OutboundOptions;
}

export async function startAtprotoHost({
  config,
  outbound,
}: AtprotoHostOptions): Promise<AtprotoHost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-atproto-'));
  const created = await createDatabase(folder);
  const database = openOwnStore(created.url);
  await migrate(database, oauthServerMigrations);
  const server = createAuthorizationServer({
    publicUrl: ORIGIN,
    config: oauthServerConfiguration.parse({
      name: 'Ada’s host',
      scopes: { atproto: 'Know who you are' },
      audience: ORIGIN,
      challenge: true,
      key_path: path.join(folder, 'keys'),
      ...config,
    }),
    host,
    database,
    outbound,
    showsDetails: true,
  });
  const handle = createHandler<Issued>(server);
  const answered: string[] = [];

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/xrpc/com.atproto.identity.resolveHandle') return Response.json({ did: DID });
    if (pathname === '/xrpc/com.atproto.server.getSession') {
      return server.withToken(request, async () => {
        token().requireScope('atproto');
        return Response.json({ did: token().user()?.reference.id ?? null });
      });
    }
    const issued: Issued = { did: null };
    const response = await handle(request, issued);
    if (response === null) return new Response(null, { status: 404 });
    if (issued.did === null) return response;
    const { status, headers } = response;
    return Response.json(
      { ...((await response.json()) as object), sub: issued.did },
      { status, headers },
    );
  }

  async function answer(request: Request): Promise<Response> {
    const response = await respond(request);
    answered.push(`${request.method} ${new URL(request.url).pathname} ${response.status}`);
    return response;
  }

  return {
    origin: ORIGIN,
    answered,
    fetch(input, init) {
      const request = new Request(input, init);
      const { origin } = new URL(request.url);
      return origin === 'https://plc.directory'
        ? Promise.resolve(Response.json(DOCUMENT))
        : answer(request);
    },
    async allow(url) {
      const page = await answer(new Request(url));
      const { requestId, csrfToken } = (await page.json()) as Readonly<Record<string, string>>;
      const body = new URLSearchParams({
        request_id: requestId ?? '',
        csrf_token: csrfToken ?? '',
        decision: 'allow',
      });
      const allowed = await answer(
        new Request(`${ORIGIN}/oauth/authorize`, { method: 'POST', body }),
      );
      return new URL(allowed.headers.get('location') ?? '');
    },
    async close() {
      await database.close();
      await created.drop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The document in the form in which the directory of DIDs returns it. */
const DOCUMENT = {
  '@context': ['https://www.w3.org/ns/did/v1'],
  id: DID,
  alsoKnownAs: [`at://${HANDLE}`],
  service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: ORIGIN }],
};
