import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import tls, { createSecureContext, type SecureContext } from 'node:tls';
import { readMediaType } from '../media-types.ts';
import { portProblem } from './fetchable-urls.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';
import { resolveByDns, resolveBySystem } from './dns.ts';
import { OutboundLimits, OutboundError, type CountedRequest } from './limits.ts';

/**
 * Fetches JSON from a URL that a stranger chose. A stranger cannot use it to reach this machine's
 * network:
 *
 * - It resolves the hostname once, requires that every address is public, and connects to one of
 *   these addresses.
 * - It follows no redirects.
 * - It reads only a limited number of bytes.
 */
export type FetchJson = (
  url: URL,
  about: Omit<CountedRequest, 'url'> & {
    /** The maximum size of the response, in bytes. */
    readonly limit: number;
  },
) => Promise<FetchedJson>;

/**
 * Fetches bytes that the response declares as an image, with the same protection as `FetchJson`.
 * Rejects with an OutboundError.
 */
export type FetchImage = (url: URL, about: Parameters<FetchJson>[1]) => Promise<Uint8Array>;

export interface FetchedJson {
  readonly value: unknown;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Settings for outbound requests that only code can set. Use them for tests and for a private
 * certificate authority.
 */
export interface OutboundOptions {
  /** PEM certificates to trust in addition to the certificates that Node trusts. */
  readonly ca?: string | readonly string[] | undefined;
  /**
   * Resolves a host's addresses. The signal aborts when the result is no longer needed. Defaults to
   * the DNS. During development with a loopback `public_url`, defaults to the system's look-up,
   * which also reads the hosts file.
   */
  readonly resolve?:
    ((hostname: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /**
   * The name servers for look-ups, as `address` or `address:port`. Defaults to the system's name
   * servers.
   */
  readonly nameServers?: readonly string[] | undefined;
  /**
   * Returns a signal that aborts one request. The request lasts from the look-up to the last byte.
   * Defaults to a signal that aborts after five seconds.
   */
  readonly deadline?: (() => AbortSignal) | undefined;
}

export interface FetchJsonOptions extends OutboundOptions {
  /** Whether loopback addresses are also allowed, for development. */
  readonly allowsLoopback: boolean;
  /** Whether any port is allowed, for development. */
  readonly anyPort: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** The time limit for the look-up, the connection and the whole response, in milliseconds. */
const PATIENCE = 5000;
const LARGEST_HEADERS = 8192;

export function createFetchJson(options: FetchJsonOptions): FetchJson {
  return createFetch(options, 'application/json', async (response, limit) => ({
    value: await readJson(response, limit),
    headers: response.headers,
  }));
}

export function createFetchImage(options: FetchJsonOptions): FetchImage {
  return createFetch(
    options,
    'image/png, image/jpeg, image/webp, image/gif',
    async (response, limit) => {
      requirePlain(response);
      if (!readMediaType(response.headers['content-type']).startsWith('image/')) {
        throw new OutboundError('the answer is not a picture');
      }
      return readBytes(response, limit);
    },
  );
}

/** Turns a response into a value. Reads at most `limit` bytes. */
type ReadAnswer<T> = (response: IncomingMessage, limit: number) => Promise<T>;

function createFetch<T>(
  options: FetchJsonOptions,
  accept: string,
  read: ReadAnswer<T>,
): (url: URL, about: Parameters<FetchJson>[1]) => Promise<T> {
  const { allowsLoopback, anyPort, clock, resolve = resolving(options) } = options;
  const { deadline = () => AbortSignal.timeout(PATIENCE) } = options;
  const trust = options.ca === undefined ? {} : trusting(options.ca);
  const limits = new OutboundLimits(clock);

  /**
   * Resolves the hostname once per request, so that the connection goes to an address that was
   * checked.
   */
  async function checkedAddresses(
    { hostname }: URL,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const addresses = await resolve(hostname, signal);
    if (addresses.length === 0) throw new OutboundError('the host has no address');
    const mayAsk = (address: string) =>
      isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address));
    const refused = addresses.find((address) => !mayAsk(address));
    if (refused !== undefined)
      throw new OutboundError(`the host has the address ${refused}, which is not public`);
    return addresses;
  }

  async function ask(url: URL, limit: number, signal: AbortSignal): Promise<T> {
    const addresses = await checkedAddresses(url, signal);
    const response = await request(url, addresses, signal);
    try {
      return await read(response, limit);
    } finally {
      response.destroy();
    }
  }

  function request(
    url: URL,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((fulfil, reject) => {
      const sent = get(
        url,
        {
          // Use a separate connection and no proxy, because a proxy would resolve the hostname
          // again.
          agent: false,
          lookup: answering(addresses),
          headers: { Accept: accept, 'Accept-Encoding': 'identity', 'User-Agent': 'portico' },
          maxHeaderSize: LARGEST_HEADERS,
          rejectUnauthorized: true,
          signal,
          ...trust,
        },
        fulfil,
      );
      sent.on('error', reject);
      // If a response switches protocols, the request ends without an error.
      sent.on('close', () => reject(new OutboundError('the connection ended without an answer')));
    });
  }

  return async (url, { limit, ...counted }) => {
    requireFetchable(url, anyPort);
    return limits.within({ ...counted, url }, async () => {
      try {
        const signal = deadline();
        return await orAborted(ask(url, limit, signal), signal);
      } catch (error) {
        throw error instanceof OutboundError ? error : new OutboundError(failure(error));
      }
    });
  };
}

function requireFetchable(url: URL, anyPort: boolean): void {
  if (url.protocol !== 'https:') throw new OutboundError('it is not https');
  const problem = portProblem(url, anyPort);
  if (problem !== null) throw new OutboundError(`it ${problem}`);
  // Node connects to an IP address in a URL without a look-up. So the address would not be checked.
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith('[')) {
    throw new OutboundError('it has an IP address instead of a host name');
  }
}

function resolving({
  allowsLoopback,
  nameServers,
}: FetchJsonOptions): NonNullable<OutboundOptions['resolve']> {
  if (allowsLoopback && nameServers === undefined) return resolveBySystem;
  return (hostname, signal) => resolveByDns(hostname, signal, nameServers);
}

/**
 * Returns options that trust these certificates. Call it only once, because it reads all
 * certificate authorities.
 */
function trusting(ca: string | readonly string[]): { readonly secureContext: SecureContext } {
  return {
    secureContext: createSecureContext({ ca: [...tls.getCACertificates('default'), ca].flat() }),
  };
}

/**
 * Returns the look-up function that Node uses to connect. It always returns the checked addresses,
 * even if the hostname resolves to other addresses now.
 */
function answering(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const [first = { address: '', family: 0 }] = found;
  return (_, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

/** Rejects when the signal aborts, even if the work continues. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((fulfil, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(fulfil, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function requirePlain({ statusCode: status, headers }: IncomingMessage): void {
  if (status !== 200)
    throw new OutboundError(
      `the response status is ${status}, not 200; redirects are not followed`,
    );
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new OutboundError('the answer is compressed, but compression was not requested');
}

async function readJson(response: IncomingMessage, limit: number): Promise<unknown> {
  requirePlain(response);
  const type = readMediaType(response.headers['content-type']);
  if (!/^application\/(?:[a-z0-9.+_-]+\+)?json$/.test(type)) {
    throw new OutboundError('the answer is not application/json');
  }
  const text = await readText(response, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw new OutboundError('the answer is not JSON');
  }
}

async function readBytes(response: IncomingMessage, limit: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) throw new OutboundError(`the answer is longer than ${limit} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function readText(response: IncomingMessage, limit: number): Promise<string> {
  const bytes = await readBytes(response, limit);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OutboundError('the answer is not UTF-8');
  }
}

/** Returns Node's description of the error. The description contains no part of the response. */
function failure(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be fetched';
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'it took longer than five seconds';
  return `it cannot be fetched: ${'code' in error ? String(error.code) : error.name}`;
}
