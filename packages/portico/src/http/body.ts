/** Why a body cannot be used. `broke off` means that the sender closed the connection. */
export type BodyFailure = 'too large' | 'broke off' | 'not UTF-8';

/**
 * The error if the application has read the body before the endpoint and did not keep it. This is a
 * mistake of the application, not of the client. So the response is 500, and the error is logged.
 */
export class BodyTakenError extends Error {
  override readonly name = 'BodyTakenError';
  /** `from` says where the application read the body. `place` says where Portico expected it. */
  constructor(from: string, place: string) {
    super(
      `The body was read from ${from} before portico() got the request, and is not in ${place}. ` +
        'Mount portico() before the middleware that reads the body, or keep the body there',
    );
  }
}

/**
 * It is called if a body cannot be used. It throws, or returns a replacement. `cause` is the error
 * that occurred while reading.
 */
export type WithoutBody<T> = (failure: BodyFailure, cause?: unknown) => T;

/**
 * Returns a body's bytes. If the body is too large, reads and drops the rest, up to a limit. If the
 * server did not read it, the connection would close while the sender is still sending, and the
 * sender would not get the response.
 */
export async function readBytes<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<Buffer | T> {
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

function brokeOff<T>(error: unknown, withoutBody: WithoutBody<T>): T {
  if (error instanceof BodyTakenError) throw error;
  return withoutBody('broke off', error);
}

/**
 * Whether the declared length is within the limit. The HTTP parser makes sure that a body has its
 * declared length. So a short body can be read without a stream.
 */
function declaresAtMost({ headers }: Request, limit: number): boolean {
  const declared = headers.get('content-length');
  return declared !== null && Number(declared) <= limit;
}

/** All requests share one decoder, because creating a decoder takes as long as decoding. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Like `readBytes`, but returns text. */
export async function readText<T>(
  request: Request,
  limit: number,
  withoutBody: WithoutBody<T>,
): Promise<string | T> {
  if (!declaresAtMost(request, limit)) {
    const bytes = await readBytes(request, limit, withoutBody);
    return Buffer.isBuffer(bytes) ? decode(bytes, withoutBody) : bytes;
  }
  let text: string;
  try {
    text = await request.text();
  } catch (error) {
    return brokeOff(error, withoutBody);
  }
  if (Buffer.byteLength(text) > limit) return withoutBody('too large');
  // The decoder has written U+FFFD in place of bytes that are not UTF-8. A valid form can contain
  // this character only percent-encoded.
  return text.includes('\u{FFFD}') ? withoutBody('not UTF-8') : text;
}

function decode<T>(bytes: Buffer, withoutBody: WithoutBody<T>): string | T {
  try {
    return UTF8.decode(bytes);
  } catch {
    return withoutBody('not UTF-8');
  }
}

/** The maximum number of bytes that are read only to drop them. */
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
    // Ignore this error: the sender has closed the connection.
  }
}
