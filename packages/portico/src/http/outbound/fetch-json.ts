import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { readMediaType } from '../media-types.ts';
import { GuardedRequests, type GuardedOptions } from './guarded-request.ts';
import { OutboundLimits, OutboundError, type CountedRequest } from './limits.ts';

/**
 * Fetches JSON from a URL that anyone may have chosen. `GuardedRequests` and `OutboundLimits`
 * protect the server. Rejects with an OutboundError, for example if the response is longer than
 * `limit`.
 */
export type FetchJson = (
  url: URL,
  about: Omit<CountedRequest, 'url'> & {
    /** The maximum size of the response, in bytes. */
    readonly limit: number;
  },
) => Promise<FetchedJson>;

/**
 * Fetches an image with the protections of `FetchJson`. The response must declare an image type.
 * Rejects with an OutboundError.
 */
export type FetchImage = (url: URL, about: Parameters<FetchJson>[1]) => Promise<Uint8Array>;

export interface FetchedJson {
  readonly value: unknown;
  readonly headers: IncomingHttpHeaders;
}

export function createFetchJson(options: GuardedOptions): FetchJson {
  return createFetch(options, 'application/json', async (response, limit) => ({
    value: await readJson(response, limit),
    headers: response.headers,
  }));
}

/**
 * Returns a function that fetches JSON from a URL in the configuration. It has the protections of
 * `FetchJson`, but no `OutboundLimits`: the caller must limit its calls. `limit` is the maximum
 * size of the response, in bytes.
 */
export function createFetchConfigured(
  options: GuardedOptions,
): (url: URL, limit: number) => Promise<unknown> {
  const requests = new GuardedRequests(options);
  return (url, limit) =>
    requests.send(url, { headers: { Accept: 'application/json' } }, (response) =>
      readJson(response, limit),
    );
}

export function createFetchImage(options: GuardedOptions): FetchImage {
  return createFetch(
    options,
    'image/png, image/jpeg, image/webp, image/gif',
    async (response, limit) => {
      requirePlain(response);
      if (!readMediaType(response.headers['content-type']).startsWith('image/')) {
        throw new OutboundError('the response is not an image');
      }
      return readBytes(response, limit);
    },
  );
}

/** Throws an OutboundError if the body is longer than `limit` bytes. */
type ReadAnswer<T> = (response: IncomingMessage, limit: number) => Promise<T>;

function createFetch<T>(
  options: GuardedOptions,
  accept: string,
  read: ReadAnswer<T>,
): (url: URL, about: Parameters<FetchJson>[1]) => Promise<T> {
  const requests = new GuardedRequests(options);
  const limits = new OutboundLimits(options.clock);
  return async (url, { limit, ...counted }) => {
    requests.requireAllowed(url);
    return limits.within({ ...counted, url }, () =>
      requests.send(url, { headers: { Accept: accept } }, (response) => read(response, limit)),
    );
  };
}

function requirePlain({ statusCode: status, headers }: IncomingMessage): void {
  if (status !== 200)
    throw new OutboundError(
      `the response status is ${status}, not 200; redirects are not followed`,
    );
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new OutboundError('the response is compressed, but compression was not requested');
}

async function readJson(response: IncomingMessage, limit: number): Promise<unknown> {
  requirePlain(response);
  const type = readMediaType(response.headers['content-type']);
  if (!/^application\/(?:[a-z0-9.+_-]+\+)?json$/.test(type)) {
    throw new OutboundError('the response is not application/json');
  }
  const text = await readText(response, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw new OutboundError('the response is not JSON');
  }
}

async function readBytes(response: IncomingMessage, limit: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) throw new OutboundError(`the response is longer than ${limit} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function readText(response: IncomingMessage, limit: number): Promise<string> {
  const bytes = await readBytes(response, limit);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OutboundError('the response is not UTF-8');
  }
}
