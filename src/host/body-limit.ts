import { nameRequest, requestIdOf } from '../http/request-id.ts';
import { HttpError } from './error-handler.ts';

/**
 * A request of which no more than so many bytes can be read: a longer body is an HttpError 413, at once when its length
 * was declared, else when a handler has read that far.
 */
export function limitBody(request: Request, limit: number): Request {
  if (request.method === 'GET' || request.method === 'HEAD') return request;
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  // A declared length was held to by the HTTP parser.
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
  return nameRequest(limited, requestIdOf(request));
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, `The body is larger than ${limit} bytes`);
}
