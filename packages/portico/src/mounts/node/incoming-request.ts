import type { IncomingMessage } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { BodyTakenError } from '../../http/body.ts';

/**
 * The body of a request:
 *
 * - A string or bytes come from the host's parser.
 * - A stream has not been read.
 * - An error means that other code has read the body.
 * - Null means that there is no body.
 */
export type SourceBody = string | Uint8Array | Readable | BodyTakenError | null;

/** Each function is called at most once. */
export interface RequestSource {
  readonly incoming: IncomingMessage;
  readonly headers: () => Headers;
  readonly body: (headers: Headers) => SourceBody;
  /** Returns a real Request with the same data and this body. */
  readonly request: (headers: Headers, body: SourceBody) => Request;
}

/**
 * A Request that creates the real Request when it is needed. Most endpoints read only a few headers
 * and a short body. A real Request, with its URL, signal and streams, takes longer to create than
 * most responses. All members except `method`, `headers`, `bodyUsed` and `text()` create the real
 * Request.
 *
 * `new Request(request)` and `fetch(request)` throw an error for an IncomingRequest, although it is
 * an instance of Request. Pass it only to code that reads it.
 */
class IncomingRequest {
  readonly #source: RequestSource;
  #headers: Headers | null = null;
  #real: Request | null = null;
  /** True if `text()` has read the body. */
  #isRead = false;

  constructor(source: RequestSource) {
    this.#source = source;
  }

  get method(): string {
    return this.#source.incoming.method ?? 'GET';
  }

  get headers(): Headers {
    return (this.#headers ??= this.#source.headers());
  }

  get bodyUsed(): boolean {
    return this.#real === null ? this.#isRead : this.#real.bodyUsed;
  }

  async text(): Promise<string> {
    if (this.#real !== null || this.#isRead) return this.real.text();
    this.#isRead = true;
    const body = this.#source.body(this.headers);
    if (body instanceof Error) throw body;
    if (body === null) return '';
    const bytes = body instanceof Readable ? await bytesOf(body) : body;
    return UTF8.decode(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  }

  /** Created at the first use. */
  get real(): Request {
    if (this.#real === null) {
      const { body, request } = this.#source;
      this.#real = request(this.headers, this.#isRead ? '' : body(this.headers));
      // The body was read, and cannot be read a second time.
      if (this.#isRead) void this.#real.text();
    }
    return this.#real;
  }
}

/** Replaces bytes that are not UTF-8 with U+FFFD, as `Request.text()` does. */
const UTF8 = new TextDecoder();

/** Reads the rest of a stream. Rejects if the client closes the connection earlier. */
function bytesOf(source: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    source.on('data', (chunk: Buffer | string) => chunks.push(bytesOfChunk(chunk, source)));
    finished(source, { writable: false }, (error) => {
      if (error === undefined || error === null) resolve(Buffer.concat(chunks));
      else reject(error);
    });
  });
}

/** A chunk is a string if the application has called `setEncoding`. */
export function bytesOfChunk(chunk: Buffer | string, source: Readable): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, source.readableEncoding ?? 'utf8') : chunk;
}

// Take all other members from the real Request. A framework may have replaced the global Request
// with a subclass, so include the members of subclasses.
for (
  let prototype: object = Request.prototype;
  Object.getPrototypeOf(prototype) !== null; // The last prototype is Object.prototype.
  prototype = Object.getPrototypeOf(prototype) as object
)
  for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (!Object.hasOwn(IncomingRequest.prototype, name)) takeFromReal(name, 'value' in member);

function takeFromReal(name: string, isMethod: boolean): void {
  const read = (request: IncomingRequest): unknown => Reflect.get(request.real, name);
  const descriptor: PropertyDescriptor & ThisType<IncomingRequest> = isMethod
    ? {
        value(...given: unknown[]) {
          return Reflect.apply(read(this) as () => unknown, this.real, given);
        },
      }
    : {
        get() {
          return read(this);
        },
      };
  Object.defineProperty(IncomingRequest.prototype, name, descriptor);
}

export function incomingRequest(source: RequestSource): Request {
  // Some frameworks replace the global Request while the application starts, so use the current
  // one.
  if (!(IncomingRequest.prototype instanceof Request))
    Object.setPrototypeOf(IncomingRequest.prototype, Request.prototype);
  return new IncomingRequest(source) as unknown as Request;
}
