import type { IncomingMessage } from 'node:http';
import { request as sendRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import tls, { createSecureContext, type SecureContext } from 'node:tls';
import { portProblem } from './fetchable-urls.ts';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';
import { resolveByDns, resolveBySystem } from './dns.ts';
import { OutboundError } from './limits.ts';

/**
 * Settings for outbound requests. You can set them only in code, for tests or to trust a private
 * certificate authority.
 */
export interface OutboundOptions {
  /** PEM certificates to trust in addition to Node's certificates. */
  readonly ca?: string | readonly string[] | undefined;
  /**
   * Returns a host's addresses. The signal aborts when the result is no longer needed. Default: a
   * DNS look-up. If `public_url` is a loopback URL (development) and `nameServers` is not set, the
   * default also reads the hosts file, through the operating system.
   */
  readonly resolve?:
    ((hostname: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /**
   * The name servers for DNS look-ups, as `address` or `address:port`. Default: those of the
   * system.
   */
  readonly nameServers?: readonly string[] | undefined;
  /**
   * Returns a signal that ends one request, from the DNS look-up to the last byte. Default: a
   * signal that aborts after five seconds.
   */
  readonly deadline?: (() => AbortSignal) | undefined;
}

export interface GuardedOptions extends OutboundOptions {
  /** Allows loopback addresses. Only for development. */
  readonly allowsLoopback: boolean;
  /** Allows ports other than 443. Only for development. */
  readonly anyPort: boolean;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}

/** The time for one request, from the DNS look-up to the last byte, in milliseconds. */
const PATIENCE = 5000;
const LARGEST_HEADERS = 8192;

export interface GuardedMessage {
  /** A request with a body is a POST. A request without one is a GET. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts the request before the time limit. */
  readonly signal?: AbortSignal;
}

/**
 * Sends requests to URLs that anyone may have chosen. These rules protect the internal network and
 * this server:
 *
 * - Each request resolves the hostname once and connects to one of the resulting addresses. All of
 *   these addresses must be public.
 * - Redirects are not followed.
 * - Each request has a time limit.
 */
export class GuardedRequests {
  readonly #options: GuardedOptions;
  readonly #resolve: NonNullable<OutboundOptions['resolve']>;
  readonly #trust: { readonly secureContext?: SecureContext };

  constructor(options: GuardedOptions) {
    this.#options = options;
    this.#resolve = options.resolve ?? resolving(options);
    this.#trust = options.ca === undefined ? {} : trusting(options.ca);
  }

  /** Throws an OutboundError if the server must not send requests to this URL. */
  requireAllowed(url: URL): void {
    requireFetchable(url, this.#options.anyPort);
  }

  /**
   * Sends the request and reads the response with `read`, then closes the connection. Rejects with
   * an OutboundError.
   */
  async send<T>(
    url: URL,
    { signal: aborts, ...message }: GuardedMessage,
    read: (response: IncomingMessage) => T | Promise<T>,
  ): Promise<T> {
    this.requireAllowed(url);
    const { deadline = () => AbortSignal.timeout(PATIENCE) } = this.#options;
    try {
      const signal = aborts === undefined ? deadline() : AbortSignal.any([aborts, deadline()]);
      return await orAborted(this.#ask(url, message, signal, read), signal);
    } catch (error) {
      throw error instanceof OutboundError ? error : new OutboundError(failure(error));
    }
  }

  async #ask<T>(
    url: URL,
    message: GuardedMessage,
    signal: AbortSignal,
    read: (response: IncomingMessage) => T | Promise<T>,
  ): Promise<T> {
    const addresses = await this.#checkedAddresses(url, signal);
    const response = await this.#request(url, message, addresses, signal);
    try {
      return await read(response);
    } finally {
      response.destroy();
    }
  }

  /**
   * Throws if any address is not allowed. The request connects to one of these addresses and does
   * not resolve the hostname again.
   */
  async #checkedAddresses({ hostname }: URL, signal: AbortSignal): Promise<readonly string[]> {
    const { allowsLoopback } = this.#options;
    const addresses = await this.#resolve(hostname, signal);
    if (addresses.length === 0) throw new OutboundError('the host has no address');
    const mayAsk = (address: string) =>
      isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address));
    const refused = addresses.find((address) => !mayAsk(address));
    if (refused !== undefined)
      throw new OutboundError(`the host has the address ${refused}, which is not public`);
    return addresses;
  }

  #request(
    url: URL,
    { body, headers }: GuardedMessage,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((fulfil, reject) => {
      const sent = sendRequest(
        url,
        {
          // Use a new connection without a proxy. A proxy would resolve the hostname again.
          agent: false,
          method: body === undefined ? 'GET' : 'POST',
          lookup: answering(addresses),
          headers: { ...headers, 'Accept-Encoding': 'identity', 'User-Agent': 'portico' },
          maxHeaderSize: LARGEST_HEADERS,
          rejectUnauthorized: true,
          signal,
          ...this.#trust,
        },
        fulfil,
      );
      sent.on('error', reject);
      // If the other server switches protocols, the request ends without an error event.
      sent.on('close', () => reject(new OutboundError('the connection ended without a response')));
      sent.end(body);
    });
  }
}

function requireFetchable(url: URL, anyPort: boolean): void {
  if (url.protocol !== 'https:') throw new OutboundError('it is not https');
  const problem = portProblem(url, anyPort);
  if (problem !== null) throw new OutboundError(`it ${problem}`);
  // Node connects to an IP address in a URL without calling `lookup`, so check for one here.
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith('[')) {
    throw new OutboundError('it has an IP address instead of a host name');
  }
}

function resolving({
  allowsLoopback,
  nameServers,
}: GuardedOptions): NonNullable<OutboundOptions['resolve']> {
  if (allowsLoopback && nameServers === undefined) return resolveBySystem;
  return (hostname, signal) => resolveByDns(hostname, signal, nameServers);
}

/**
 * Trusts these certificates in addition to Node's. Reads all certificate authorities, so call it
 * only once.
 */
function trusting(ca: string | readonly string[]): { readonly secureContext: SecureContext } {
  return {
    secureContext: createSecureContext({ ca: [...tls.getCACertificates('default'), ca].flat() }),
  };
}

/**
 * Returns the look-up function that Node calls when it connects. It always returns the checked
 * addresses, even if the hostname now resolves to others.
 */
function answering(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const [first = { address: '', family: 0 }] = found;
  return (_, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

/** Returns the result of `work`, or rejects when the signal aborts. The work may then continue. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((fulfil, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(fulfil, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Returns why the request failed. Contains the code or name of Node's error, but nothing from the
 * response.
 */
function failure(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be fetched';
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'it took longer than five seconds';
  return `it cannot be fetched: ${'code' in error ? String(error.code) : error.name}`;
}
