import { nameRequest, readBytes, getRequestId } from 'portico/extension';
import { HttpError } from '../errors.ts';

/**
 * Limits the request's body to `limit` bytes. A longer body causes an HttpError 413. If the request
 * declares its length, the error is thrown immediately. Otherwise, it occurs when a handler reads
 * past the limit.
 */
export function limitBody(request: Request, limit: number): Request {
  if (request.method === 'GET' || request.method === 'HEAD') return request;
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  // No need to count the bytes: if the request declares its length, the HTTP parser ensures that
  // the body is not longer.
  if (declared !== null || request.body === null) return request;
  let size = 0;
  const counted = request.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > limit) controller.error(tooLarge(limit));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { url, method, headers, signal } = request;
  const limited = new Request(url, {
    method,
    headers,
    signal,
    body: counted,
    duplex: 'half',
  } as RequestInit);
  return nameRequest(limited, getRequestId(request));
}

/**
 * Returns the request's body. Throws an HttpError 413 if the body is longer than `limit` bytes, and
 * 400 if it ends early.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const body = await readBytes(request, limit, (failure, cause) => {
    if (failure === 'too large') throw tooLarge(limit);
    // If `limitBody` rejected the body, the cause is its HttpError. Otherwise, the sender has
    // disconnected, which is not a fault of the server.
    throw cause instanceof HttpError ? cause : new HttpError(400, 'The request body ended early');
  });
  return new Uint8Array(body);
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, `The request body is larger than ${limit} bytes`);
}
