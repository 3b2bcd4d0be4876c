import { get as getByHttp } from 'node:http';
import { get as getByHttps } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { canonicalAddress } from '../http/addresses.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { failing, ok, skipped, warning, type Check, type Finding } from './finding.ts';
import type { SigningKey } from './keys.ts';
import { askRoundTrip, ROUND_TRIP_HEADER, type SeenRequest } from './round-trip.ts';
import { randomIdentifier } from './crypto.ts';

/**
 * Asks the public address as a client would: does it lead to this installation, and what of a request comes through.
 * Nothing is asked of an address that is not this installation's beyond the two public documents.
 */
export async function examinePublicAddress(
  server: AuthorizationServer,
  { patience }: { readonly patience: number },
): Promise<readonly Check[]> {
  const ask = createAsking(patience);
  const address = await examineIssuer(server, ask);
  const there = address.outcome === 'ok';
  const keySet = there ? await examineKeySet(server, ask) : skipped('the public address does not lead here');
  const same = keySet.outcome === 'ok';
  const roundTrip = same
    ? await examineRoundTrip(server, ask)
    : skipped('it is not certain who answers there');
  return [
    { part: 'public address', ...address },
    { part: 'public key set', ...keySet },
    { part: 'round trip', ...roundTrip },
  ];
}

async function examineIssuer(server: AuthorizationServer, ask: Ask): Promise<Finding> {
  const url = `${server.issuer}/.well-known/openid-configuration`;
  const asked = await ask(url);
  if ('fault' in asked) return asked.fault;
  const document = asked.document as { readonly issuer?: unknown };
  if (document.issuer === server.issuer) return ok(`${url} was fetched, and names this issuer`);
  return failing(
    `${url} names the issuer ${JSON.stringify(document.issuer)}, this process ${server.issuer}`,
    'give public_url (PUBLIC_URL) the same value in every process, and let the address lead to those',
  );
}

async function examineKeySet(server: AuthorizationServer, ask: Ask): Promise<Finding> {
  const url = `${server.issuer}/.well-known/jwks.json`;
  const asked = await ask(url);
  if ('fault' in asked) return asked.fault;
  const { keys: found } = asked.document as { readonly keys?: unknown };
  const published = (Array.isArray(found) ? found : []) as readonly { kid?: unknown; n?: unknown }[];
  const own = await server.keys.all();
  const sameAs = (key: SigningKey) => (each: { kid?: unknown; n?: unknown }) =>
    each.kid === key.kid && each.n === key.publicJwk.n;
  const missing = own.filter((key) => !published.some(sameAs(key))).map(({ kid }) => kid);
  const foreign = published
    .filter((each) => !own.some((key) => sameAs(key)(each)))
    .map(({ kid }) => String(kid));
  if (missing.length === 0 && foreign.length === 0) {
    return ok(`${url} was fetched, and holds the same keys as ${server.config.key_path}: ${own.length}`);
  }
  const difference = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(', ')}`]),
    ...(foreign.length === 0 ? [] : [`has ${foreign.join(', ')}, which this directory has not`]),
  ];
  return failing(
    `oauth_server:key_path: ${url} ${difference.join(' and ')}; looked at here: ${server.config.key_path}`,
    'let every process use the same key directory (key_path, STORAGE_DIR); caches may take five seconds to follow a change',
  );
}

// --- the round trip -------------------------------------------------------------------------------------------

/** Of a network that nobody has (RFC 5737): what a caller may write into `X-Forwarded-For` to hide behind. */
const MADE_UP = '192.0.2.123';

async function examineRoundTrip(server: AuthorizationServer, ask: Ask): Promise<Finding> {
  const key = await server.keys.active();
  if (key === null) return skipped('it needs a signing key: run npx portico oauth:server:setup');
  const question = askRoundTrip(key, server.issuer, Date.now());
  // A cache that ignores the headers is asked for what it cannot have.
  const url = `${server.issuer}/.well-known/openid-configuration?doctor=${randomIdentifier()}`;
  const asked = await ask(url, { [ROUND_TRIP_HEADER]: question.header, 'X-Forwarded-For': MADE_UP });
  if ('fault' in asked) return asked.fault;
  const answer = asked.headers[ROUND_TRIP_HEADER.toLowerCase()];
  const seen = typeof answer === 'string' ? question.open(answer) : null;
  if (seen === null) {
    return warning(
      `${url} came back without what the process saw of the request`,
      `let the header ${ROUND_TRIP_HEADER} through, both ways, and no cache answer; or the process there is of an older release, or its clock more than five minutes off`,
    );
  }
  return judge(seen, new URL(server.issuer), asked.from);
}

/** What is wrong with what came through, beginning with the worst; `from` is where this process asked from. */
function judge(seen: SeenRequest, issuer: URL, from: string | null): Finding {
  const findings = [judgeAddress(seen, from), judgeHost(seen, issuer), judgeScheme(seen, issuer)];
  const worst = ['failing', 'warning', 'ok'].map((outcome) =>
    findings.filter((each) => each.outcome === outcome),
  );
  const [most] = worst.flat();
  const remedies = worst.flat().flatMap(({ remedy }) => (remedy === null ? [] : [remedy]));
  return {
    outcome: most?.outcome ?? 'ok',
    detail: worst
      .flat()
      .map(({ detail }) => detail)
      .join('; '),
    remedy: remedies.length === 0 ? null : remedies.join('; '),
  };
}

function judgeHost({ host, forwardedHost }: SeenRequest, issuer: URL): Finding {
  if (host === issuer.host) return ok(`the process sees the host ${host}`);
  if (forwardedHost === issuer.host)
    return ok(`the process sees the host ${host}, and ${issuer.host} in X-Forwarded-Host`);
  return warning(
    `the process sees the host ${host ?? 'not at all'}, not ${issuer.host}: what the application makes of its own requests' URLs is wrong`,
    'let the proxy pass Host on (nginx: proxy_set_header Host $host)',
  );
}

function judgeScheme({ forwardedProto }: SeenRequest, issuer: URL): Finding {
  const scheme = issuer.protocol.slice(0, -1);
  const said = forwardedProto?.split(',', 1)[0]?.trim().toLowerCase() ?? null;
  if (said === scheme) return ok(`X-Forwarded-Proto says ${said}`);
  if (said === null) return ok('no X-Forwarded-Proto is sent, which the kit does not need');
  return warning(
    `X-Forwarded-Proto says ${said}, public_url ${scheme}`,
    'let the outermost proxy set it (nginx: proxy_set_header X-Forwarded-Proto $scheme)',
  );
}

/** A proxy of this machine that was asked from this machine has the address that it would have to tell. */
const UNCERTAIN = ', which is also how it sees a proxy of its own machine that it does not trust';

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/** Each proxy appends whom it was asked by, so what follows the made-up entry was written by proxies: one entry each. */
function judgeAddress({ address: told, forwardedFor }: SeenRequest, from: string | null): Finding {
  const address = told === null ? null : (canonicalAddress(told) ?? told);
  const entries = (forwardedFor ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const appended = entries.slice(entries.indexOf(MADE_UP) + 1);
  const shown = address ?? 'nothing';
  const proxies = `${appended.length === 1 ? '1 proxy appends' : `${appended.length} proxies append`} to X-Forwarded-For`;
  const remedy =
    `set trusted_proxies to ${appended.length}; in an application of another framework, let that trust as many ` +
    "(Express: app.set('trust proxy', …)) and clientAddress of the host contract answer it";
  if (address === MADE_UP) {
    return failing(
      `the process believes the address that this request made up (${MADE_UP}), so anybody escapes what slows guessing down: ${proxies}`,
      remedy,
    );
  }
  const [outermost] = appended;
  if (outermost !== undefined) {
    if (address !== null && address === canonicalAddress(outermost)) {
      const seen = `${proxies}; the process sees the address ${address}`;
      return ok(
        isLoopback(address) ? `${seen}${UNCERTAIN}; trusted_proxies should be ${appended.length}` : seen,
      );
    }
    return failing(
      `the process sees the address ${shown}, where the outermost proxy was asked by ${outermost}: ${proxies}`,
      remedy,
    );
  }
  if (address === null || from === null || address === canonicalAddress(from))
    return ok(`no proxy appends to X-Forwarded-For; the process sees the address ${shown}`);
  return warning(
    `the process sees the address ${shown}, this one asked from ${from}, and no proxy appends to X-Forwarded-For`,
    'if a proxy stands before the process, everybody has its address: let it append (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for) and set trusted_proxies; if a router translates addresses, this is right',
  );
}

// --- asking ---------------------------------------------------------------------------------------------------

/** The longest document that is read, in bytes. */
const LONGEST_DOCUMENT = 1024 * 1024;

interface Asked {
  readonly document: object;
  readonly headers: IncomingHttpHeaders;
  /** The address that this process asked from. */
  readonly from: string | null;
}

/** Fetches a JSON document, following nothing; what keeps it from being one is a finding. */
type Ask = (
  url: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Asked | { readonly fault: Finding }>;

/** `patience` is how long each answer is waited for, in seconds. */
function createAsking(patience: number): Ask {
  return async (url, headers) => {
    try {
      const signal = AbortSignal.timeout(patience * 1000);
      const response = await request(url, signal, {
        'Cache-Control': 'no-cache',
        Accept: 'application/json',
        ...headers,
      });
      return await documentOf(url, response);
    } catch (error) {
      return { fault: unreachable(new URL(url), patience, error) };
    }
  };
}

async function documentOf(
  url: string,
  response: IncomingMessage,
): Promise<Asked | { readonly fault: Finding }> {
  const from = response.socket.localAddress ?? null;
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400) {
    response.destroy();
    const fault = failing(
      `${url} is answered with ${status}, to ${headers.location ?? 'nowhere'}; it was not followed`,
      'an issuer is never redirected: set public_url (PUBLIC_URL) to the address that answers itself, as people and clients use it',
    );
    return { fault };
  }
  const text = await bodyOf(response);
  const document = status === 200 ? jsonOf(text) : null;
  if (document !== null) return { document, headers, from };
  const fault = failing(
    `${url} is answered with ${status} and ${headers['content-type'] ?? 'no media type'}, not with the server's document`,
    'let the proxy lead this path to the application, or correct public_url (PUBLIC_URL); of a 5xx the log of the process or proxy that answers says more',
  );
  return { fault };
}

function request(
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const get = url.startsWith('https:') ? getByHttps : getByHttp;
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers, signal }, resolve).on('error', reject);
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_DOCUMENT) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function jsonOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

const CORRECT = 'correct public_url (PUBLIC_URL)';
const UNTRUSTED = [
  'has a certificate that is signed by nobody whom this machine trusts',
  'let the server send the whole chain; for an authority of your own set NODE_EXTRA_CA_CERTS',
] as const;

/** By Node's code for it: what is wrong, and what to do. */
const UNREACHABLE: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOTFOUND: ['is a name that is not known', `${CORRECT}, or the entry of the name`],
  EAI_AGAIN: ['is a name that cannot be looked up now', "look at this machine's name servers"],
  ECONNREFUSED: ['refuses connections', `start the server or the proxy, or ${CORRECT}`],
  ECONNRESET: [
    'ends the connection without an answer',
    `look at the log of what listens there, or ${CORRECT}`,
  ],
  EHOSTUNREACH: ['cannot be reached from this machine', `look at routes and firewalls, or ${CORRECT}`],
  ENETUNREACH: ['cannot be reached from this machine', `look at routes and firewalls, or ${CORRECT}`],
  ETIMEDOUT: ['cannot be reached from this machine', `look at routes and firewalls, or ${CORRECT}`],
  EPROTO: ['does not speak TLS', `let a proxy that does stand there, or ${CORRECT}`],
  ERR_SSL_WRONG_VERSION_NUMBER: ['does not speak TLS', `let a proxy that does stand there, or ${CORRECT}`],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['does not speak TLS', `let a proxy that does stand there, or ${CORRECT}`],
  CERT_HAS_EXPIRED: ['has a certificate that has expired', 'renew it'],
  CERT_NOT_YET_VALID: ['has a certificate that is not valid yet', "look at this machine's clock"],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'has a certificate for another name',
    `give it one for this name, or ${CORRECT}`,
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

function unreachable({ host }: URL, patience: number, error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ABORT_ERR') {
    return failing(
      `public_url: ${host} does not answer within ${patience} seconds`,
      `look at what stands before the application, or ${CORRECT}`,
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  const [what, remedy] = UNREACHABLE[code] ?? [`cannot be asked: ${message}`, CORRECT];
  return failing(`public_url: ${host} ${what}${code === '' ? '' : ` (${code})`}`, remedy);
}
