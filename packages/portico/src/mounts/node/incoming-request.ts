import type { IncomingMessage } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { BodyTakenError } from '../../http/body.ts';

/**
 * The body of a request: a string or bytes from the host's parser, an unread stream, or an error if
 * other code has already read the body. Null if the request has no body.
 */
export type SourceBody = string | Uint8Array | Readable | BodyTakenError | null;

/** The data behind an `IncomingRequest`. Each function is called at most once. */
export interface RequestSource {
  readonly incoming: IncomingMessage;
  /** Returns the header fields. */
  readonly headers: () => Headers;
  /** Returns the body. */
  readonly body: (headers: Headers) => SourceBody;
  /** Returns the same request as a real Request, with this body. */
  readonly request: (headers: Headers, body: SourceBody) => Request;
}

/**
 * A Request that is created only when it is needed. Most endpoints read only a few headers and a
 * short body. Creating a real Request, with its URL, signal and streams, takes longer than
 * responding to most of these requests. All members except `method`, `headers`, `bodyUsed` and
 * `text()` create the real Request and use it.
 *
 * An IncomingRequest is an instance of Request, but `new Request(request)` and `fetch(request)`
 * throw an error. Pass it only to code that reads the request.
 */
class IncomingRequest {
  readonly #source: RequestSource;
  #headers: Headers | null = null;
  #real: Request | null = null;
  /** Whether `text()` has read the body. */
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

  /** The real Request. */
  get real(): Request {
    if (this.#real === null) {
      const { body, request } = this.#source;
      this.#real = request(this.headers, this.#isRead ? '' : body(this.headers));
      // The body cannot be read a second time.
      if (this.#isRead) void this.#real.text();
    }
    return this.#real;
  }
}

/** Replace bytes that are not UTF-8 with U+FFFD, as `Request.text()` does. */
const UTF8 = new TextDecoder();

/** Reads the rest of a stream. Rejects if the sender closes the connection before the end. */
function bytesOf(source: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const encoding = source.readableEncoding ?? 'utf8';
    source.on('data', (chunk: Buffer | string) =>
      chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk),
    );
    finished(source, { writable: false }, (error) => {
      if (error === undefined || error === null) resolve(Buffer.concat(chunks));
      else reject(error);
    });
  });
}

// Take all other members from the real Request. A framework may have replaced the global Request
// with a subclass.
for (
  let prototype: object = Request.prototype;
  prototype !== Object.prototype;
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

/** Returns a Request that creates the real Request on demand. */
export function incomingRequest(source: RequestSource): Request {
  // Look up the global Request now, because some frameworks replace the global Request while the
  // application starts.
  if (!(IncomingRequest.prototype instanceof Request))
    Object.setPrototypeOf(IncomingRequest.prototype, Request.prototype);
  return new IncomingRequest(source) as unknown as Request;
}
