/**
 * The bytes of a body, or null when there are more of them than the limit. Rejects when the body breaks off. What is left of a
 * body that is too large is taken off the wire, up to a bound: a connection that is closed on a sender who is still sending
 * takes the refusal with it.
 */
export async function readAtMost(request: Request, limit: number): Promise<Buffer | null> {
  const reader = request.body?.getReader();
  if (reader === undefined) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > limit) {
      void discard(reader);
      return null;
    }
    chunks.push(value);
  }
}

/** The most of a body that is read only to be thrown away, in bytes. */
const MOST_DISCARDED = 16 * 1024 * 1024;

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
    // The sender left, which is as well.
  }
}
