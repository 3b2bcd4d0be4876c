/** Why Portico cannot use a request's body. `broke off`: the client closed the connection. */
export type BodyFailure = 'too large' | 'broke off' | 'not UTF-8';

/**
 * Thrown if the application has read the request's body before the endpoint and has not kept it.
 * This is a mistake in the application, so the server responds with 500 and logs the error.
 */
export class BodyTakenError extends Error {
  override readonly name = 'BodyTakenError';
  /**
   * `from` is where the application read the body. `place` is where Portico looked for the body.
   */
  constructor(from: string, place: string) {
    super(
      `The body was read from ${from} before portico() got the request, and is not in ${place}. ` +
        'Mount portico() before the middleware that reads the body. If that is not possible, ' +
        `keep the body in ${place}`,
    );
  }
}

/**
 * Called if Portico cannot use a request's body. Throws, or returns a value that replaces the body.
 * `cause` is the error that occurred while reading.
 */
export type WithoutBody<T> = (failure: BodyFailure, cause?: unknown) => T;

/**
 * Returns the bytes of a request's body. If the body is too large, reads and discards the rest, up
 * to a limit. Otherwise, the connection would close while the client is still sending, and the
 * client would not receive the response.
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

/**
 * Throws if the application has already read the body. Otherwise, the error would look like a
 * mistake of the client.
 */
function requireUnread({ bodyUsed }: Request): void {
  if (bodyUsed) throw new BodyTakenError('the request', "the request's body");
}

function brokeOff<T>(error: unknown, withoutBody: WithoutBody<T>): T {
  if (error instanceof BodyTakenError) throw error;
  return withoutBody('broke off', error);
}

/**
 * Whether the body's declared length is within the limit. If so, the bytes need not be counted
 * while reading, because the HTTP parser ensures that the body has the declared length.
 */
function declaresAtMost({ headers }: Request, limit: number): boolean {
  const declared = headers.get('content-length');
  return declared !== null && Number(declared) <= limit;
}

/** Share one decoder between all requests, because creating a decoder takes as long as decoding. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Does the same as `readBytes`, but returns text. */
export async function readText<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<string | T> {
  const bytes = await readBytes(request, limit, withoutBody);
  return Buffer.isBuffer(bytes) ? decode(bytes, withoutBody) : bytes;
}

/**
 * Does the same as `readText` for forms, but faster. In a valid form, U+FFFD appears only in
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
  // `request.text()` replaces bytes that are not UTF-8 with U+FFFD, so a body that contains this
  // character is not valid.
  return text.includes('\u{FFFD}') ? withoutBody('not UTF-8') : text;
}

function decode<T>(bytes: Buffer, withoutBody: WithoutBody<T>): string | T {
  try {
    return UTF8.decode(bytes);
  } catch {
    return withoutBody('not UTF-8');
  }
}

/** The maximum number of bytes that are read and discarded. */
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
    // Ignore this error, because the client has closed the connection.
  }
}
