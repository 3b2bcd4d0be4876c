import { get as getByHttp } from 'node:http';
import { get as getByHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { FetchedDocument } from '../examination.ts';
import { failing, type Finding } from './checks.ts';

/** The maximum size of a document, in bytes. */
const LONGEST_DOCUMENT = 1024 * 1024;

export class DocumentFetcher {
  readonly #patience: number;

  /** `patience` is in seconds. */
  constructor(patience: number) {
    this.#patience = patience;
  }

  /**
   * Fetches a JSON document without redirects. Accepts only the HTTP statuses in `statuses`.
   * Returns a finding if this fails.
   */
  async fetch(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    statuses: readonly number[] = [200],
  ): Promise<FetchedDocument | { readonly fault: Finding }> {
    const signal = AbortSignal.timeout(this.#patience * 1000);
    try {
      const response = await request(url, signal, {
        'Cache-Control': 'no-cache',
        Accept: 'application/json',
        ...headers,
      });
      return await readDocument(url, response, statuses);
    } catch (error) {
      // If the time ends while the body arrives, Node reports a closed connection.
      const fault = signal.aborted
        ? tooSlow(new URL(url), this.#patience)
        : unreachable(new URL(url), error);
      return { fault };
    }
  }
}

async function readDocument(
  url: string,
  response: IncomingMessage,
  statuses: readonly number[],
): Promise<FetchedDocument | { readonly fault: Finding }> {
  const from = response.socket.localAddress ?? null;
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400) {
    response.destroy();
    const fault = failing(
      `${url} redirects (${status}) to ${headers.location ?? 'no address'}; the doctor does ` +
        'not follow redirects',
      'set public_url (PUBLIC_URL) to the final address that people and clients use, because ' +
        'an issuer must not redirect',
    );
    return { fault };
  }
  const text = await readBody(response);
  const document = statuses.includes(status) ? parseObject(text) : null;
  if (document !== null) return { status, document, headers, from };
  const fault = failing(
    `${url} returns ${status} (${headers['content-type'] ?? 'no content type'}) instead of ` +
      "the server's JSON document",
    'make the proxy forward this path to the application. Or correct public_url (PUBLIC_URL). ' +
      'If the status is 5xx, read the log of the process or proxy',
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

async function readBody(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_DOCUMENT) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

const CORRECT = 'correct public_url (PUBLIC_URL)';
const UNTRUSTED = [
  'has a certificate that this machine does not trust',
  'make the server send the whole certificate chain. If you use your own certificate ' +
    'authority, set NODE_EXTRA_CA_CERTS',
] as const;

/** What each Node error code means, and how to solve the problem. */
const UNREACHABLE: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOTFOUND: ['is not a known hostname', `${CORRECT}. Or correct the DNS entry`],
  EAI_AGAIN: ['cannot be resolved now', "check this machine's name servers"],
  ECONNREFUSED: ['refuses connections', `start the server or the proxy. Or ${CORRECT}`],
  ECONNRESET: [
    'closes the connection without a response',
    `read the log of the server or proxy at this address. Or ${CORRECT}`,
  ],
  EHOSTUNREACH: [
    'cannot be reached from this machine',
    `check routes and firewalls. Or ${CORRECT}`,
  ],
  ENETUNREACH: ['cannot be reached from this machine', `check routes and firewalls. Or ${CORRECT}`],
  ETIMEDOUT: ['cannot be reached from this machine', `check routes and firewalls. Or ${CORRECT}`],
  EPROTO: ['does not speak TLS', `configure TLS at the proxy. Or ${CORRECT}`],
  ERR_SSL_WRONG_VERSION_NUMBER: ['does not speak TLS', `configure TLS at the proxy. Or ${CORRECT}`],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: [
    'does not speak TLS',
    `configure TLS at the proxy. Or ${CORRECT}`,
  ],
  CERT_HAS_EXPIRED: ['has an expired certificate', 'renew the certificate'],
  CERT_NOT_YET_VALID: ['has a certificate that is not valid yet', "check this machine's clock"],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'has a certificate for another hostname',
    `use a certificate for this hostname. Or ${CORRECT}`,
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

function tooSlow({ host }: URL, patience: number): Finding {
  return failing(
    `public_url: ${host} does not respond within ${patience} seconds`,
    `check the proxy in front of the application. Or ${CORRECT}`,
  );
}

function unreachable({ host }: URL, error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = error instanceof Error ? error.message : String(error);
  const [what, remedy] = UNREACHABLE[code] ?? [`cannot be reached: ${message}`, CORRECT];
  return failing(`public_url: ${host} ${what}${code === '' ? '' : ` (${code})`}`, remedy);
}
