/** Why Portico cannot use a request's body. `broke off`: the client closed the connection. */
export type BodyFailure = 'too large' | 'broke off' | 'not UTF-8';

/**
 * Thrown if the application read the request's body before the endpoint and did not keep it. This
 * is a mistake in the application, so the server responds with 500 and logs the error.
 */
export class BodyTakenError extends Error {
  override readonly name = 'BodyTakenError';
  /** `from`: where the application read the body. `place`: where Portico looked for it. */
  constructor(from: string, place: string) {
    super(
      `The body was read from ${from} before portico() got the request, and is not in ${place}. ` +
        'Mount portico() before the middleware that reads the body. If that is not possible, ' +
        `keep the body in ${place}`,
    );
  }
}

/**
 * Called if Portico cannot use a body. Throws, or returns a value that replaces the body. `cause`
 * is the error of the read.
 */
export type WithoutBody<T> = (failure: BodyFailure, cause?: unknown) => T;

/**
 * Returns the bytes of a request's body. If the body is too large, discards the rest, up to a
 * limit. Otherwise, the connection would close before the client has read the response.
 */
export async function readBytes<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<Buffer | T> {
  requireUnread(request);
  if (declaresAtMost(request, limit)) {
    let bytes: ArrayBuffer;
    try {
      bytes = await request.arrayBuffer();
    } catch (error) {
      return brokeOff(error, withoutBody);
    }
    return bytes.byteLength > limit ? withoutBody('too large') : Buffer.from(bytes);
  }
  const reader = request.body?.getReader();
  if (reader === undefined) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      size += value.byteLength;
      if (size > limit) break;
      chunks.push(value);
    }
  } catch (error) {
    return brokeOff(error, withoutBody);
  }
  void discard(reader);
  return withoutBody('too large');
}

/** An early read by the application must not look like a mistake of the client. */
function requireUnread({ bodyUsed }: Request): void {
  if (bodyUsed) throw new BodyTakenError('the request', "the request's body");
}

function brokeOff<T>(error: unknown, withoutBody: WithoutBody<T>): T {
  if (error instanceof BodyTakenError) throw error;
  return withoutBody('broke off', error);
}

/**
 * Returns true if the declared length is within the limit. The HTTP parser enforces the declared
 * length, so the bytes need no counting.
 */
function declaresAtMost({ headers }: Request, limit: number): boolean {
  const declared = headers.get('content-length');
  return declared !== null && Number(declared) <= limit;
}

/** Creating a decoder takes as long as decoding, so all requests share this one. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Like `readBytes`, but returns text. */
export async function readText<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<string | T> {
  const bytes = await readBytes(request, limit, withoutBody);
  return Buffer.isBuffer(bytes) ? decode(bytes, withoutBody) : bytes;
}

/**
 * Like `readText`, but faster and only for forms. A valid form contains U+FFFD only in
 * percent-encoded form.
 */
export async function readFormText<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<string | T> {
  if (!declaresAtMost(request, limit)) return readText(request, limit, withoutBody);
  requireUnread(request);
  let text: string;
  try {
    text = await request.text();
  } catch (error) {
    return brokeOff(error, withoutBody);
  }
  if (Buffer.byteLength(text) > limit) return withoutBody('too large');
  // `request.text()` replaces bytes that are not UTF-8 with U+FFFD.
  return text.includes('\u{FFFD}') ? withoutBody('not UTF-8') : text;
}

function decode<T>(bytes: Buffer, withoutBody: WithoutBody<T>): string | T {
  try {
    return UTF8.decode(bytes);
  } catch {
    return withoutBody('not UTF-8');
  }
}

/** The maximum number of bytes that are discarded. */
export const MOST_DISCARDED = 16 * 1024 * 1024;

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let discarded = 0;
  try {
    while (discarded <= MOST_DISCARDED) {
      const { done, value } = await reader.read();
      if (done) return;
      discarded += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The client closed the connection.
  }
}
