import { nameRequest, readBytes, requestIdOf } from 'portico/extension';
import { HttpError } from '../errors.ts';

/**
 * The request with a body of which at most so many bytes can be read: a longer one is an HttpError 413, at once when its length
 * was declared, else when a handler has read that far.
 */
export function limitBody(request: Request, limit: number): Request {
  if (request.method === 'GET' || request.method === 'HEAD') return request;
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  // The HTTP parser holds a body to the length it declared.
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

/** The body of a request, at most so many bytes; a larger one is an HttpError 413, one that breaks off 400. */
export async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const body = await readBytes(request, limit, (failure, cause) => {
    if (failure === 'too large') throw tooLarge(limit);
    // What `limitBody` refuses breaks off, too; a sender who hung up is no fault of ours.
    throw cause instanceof HttpError ? cause : new HttpError(400, 'The body broke off');
  });
  return new Uint8Array(body);
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, `The body is larger than ${limit} bytes`);
}
