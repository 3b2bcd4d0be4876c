import type { MeasuredEndpoint } from '../measuring.ts';
import type { BindingOffer } from '../http/challenges.ts';
import { prefersPage } from '../http/accept.ts';
import { runInContext } from '../http/context.ts';
import type { RunFrom } from '../auditing/origin.ts';
import { Note } from '../http/note.ts';
import { getRequestId } from '../http/request-id.ts';
import { preflight, readableHeaders } from './replies/cross-origin.ts';
import { logRefusal, notedClient } from '../refusals.ts';
import {
  toCheckedResponse,
  toResponse,
  withFields,
  withRequestIdField,
  type Reply,
} from './replies/responses.ts';
import type { Failures } from './replies/failures.ts';
import type { Server } from '../server.ts';
import type { Operations } from './operation.ts';
import { ENDPOINT_TABLE, mountedAt, type EndpointDescription, type EndpointName } from './table.ts';

/**
 * An endpoint of the server. A mount passes all requests for the endpoint's path to it. If the
 * endpoint handles POST, `csrf_exempt_routes` contains its name.
 */
export interface Endpoint {
  /** The endpoint's name, for example `oauth_server_token`. */
  readonly name: string;
  /** The HTTP methods that the endpoint handles. GET includes HEAD. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
  /**
   * True if the endpoint rejects every request with 405. The `Allow` header then does not list the
   * endpoint's methods.
   */
  readonly refusesMethods?: true;
  /**
   * The path of the endpoint in incoming requests, for example `/oauth/token`. It includes
   * `base_path`, unless a proxy removes it.
   */
  readonly path: string;
  /**
   * Loads the OpenAPI descriptions of the endpoint's methods. Missing if the endpoint has no
   * description.
   */
  readonly operations?: () => Promise<Operations>;
  /**
   * Responds to a request. Never rejects, because errors become responses. Portico passes `context`
   * to every host method that it calls.
   */
  readonly handle: (request: Request, context?: unknown) => Promise<Response>;
}

/** Throws to refuse the request. */
export type Handler = (request: Request) => Promise<Reply>;

export interface OwnEndpoint {
  readonly description: EndpointDescription;
  readonly handler: Handler;
}

export interface Answering {
  readonly server: Server;
  readonly failures: Failures;
  /**
   * The header fields for bound tokens. Pages of other origins may send and read them. Null if the
   * server binds no tokens.
   */
  readonly binding: BindingOffer | null;
  /**
   * Runs the work for a request. All audit events in it contain the request's id. Null if the
   * server records no events.
   */
  readonly runFrom: RunFrom | null;
}

interface Answer {
  readonly status: number;
}

/**
 * Responds with what `convert` returns for the reply, without a Response object. If `convert`
 * throws, responds with an error. Never rejects.
 */
type Replying = <T extends Answer>(
  request: Request,
  context: unknown,
  convert: (reply: Reply) => T,
) => Promise<T>;

/**
 * Maps each endpoint's `handle` to a function that responds with plain data. If other code wraps
 * `handle`, the new function is not in this map. The mount then calls the new function.
 */
const replies = new Note<Replying>('reply');

/**
 * Returns a function that responds with plain data, for mounts on Node's HTTP server. Returns null
 * for endpoints that users open: the host must see their Response. Also returns null for endpoints
 * of other classes.
 */
export function replyingOf({ handle }: Endpoint): Replying | null {
  return replies.of(handle) ?? null;
}

export class AnsweringEndpoint implements Endpoint {
  readonly name: string;
  readonly path: string;
  readonly methods: Endpoint['methods'];
  readonly operations?: () => Promise<Operations>;
  readonly #description: EndpointDescription;
  readonly #handler: Handler;
  readonly #by: Answering;
  /** Telemetry identifies the endpoint by this object. Keep it for the lifetime of the server. */
  readonly #task: MeasuredEndpoint;
  /** For endpoints that pages of any origin may call. */
  readonly #readable: Readonly<Record<string, string>>;

  constructor(description: EndpointDescription, handler: Handler, by: Answering) {
    const { name, path, methods, anyOrigin = false, operations } = description;
    this.name = name;
    if (operations !== undefined) this.operations = operations;
    this.path = path;
    this.methods = anyOrigin ? [...methods, 'OPTIONS'] : methods;
    this.#description = description;
    this.#handler = handler;
    this.#by = by;
    this.#task = { kind: 'endpoint', name, route: path };
    this.#readable = readableHeaders(by.binding);
    if (description.forPeople !== true)
      replies.set(this.handle, (request, context, convert) =>
        this.#run(request, context, () => this.#converted(request, convert)),
      );
  }

  readonly handle = (request: Request, context?: unknown): Promise<Response> =>
    this.#run(request, context, () => this.#answer(request));

  #run<T extends Answer>(request: Request, context: unknown, answer: () => Promise<T>): Promise<T> {
    const { server, runFrom } = this.#by;
    const { measuring, outbox } = server;
    outbox.start();
    const work =
      measuring === null ? answer : () => measuring.endpoint(this.#task, request, answer);
    return runInContext(
      context,
      getRequestId(request),
      runFrom === null ? work : () => runFrom(() => request, context, work),
    );
  }

  async #answer(request: Request): Promise<Response> {
    // Only the responses to people contain headers from the host, such as its sign-in URL.
    const convert = this.#description.forPeople === true ? toCheckedResponse : toResponse;
    const response = await this.#converted(request, convert);
    return this.#committed(request, response, getRequestId(request));
  }

  /** If the reply is invalid, converts an error instead. */
  async #converted<T>(request: Request, convert: (reply: Reply) => T): Promise<T> {
    let reply: Reply | null = null;
    try {
      reply = await this.#replied(request);
      return convert(reply);
    } catch (error) {
      const requestId = getRequestId(request);
      // Send no page: its headers could be invalid too.
      const failed = { endpoint: this.name, requestId, asPage: false, request };
      const exception = reply === null ? error : invalid(reply);
      const fault = await this.#by.failures.reply(exception, failed);
      return convert(withRequestIdField(fault, requestId));
    }
  }

  /** Adds the request's id, and logs a refusal. */
  async #replied(request: Request): Promise<Reply> {
    const { server, binding } = this.#by;
    const { anyOrigin = false, methods } = this.#description;
    const requestId = getRequestId(request);
    if (anyOrigin && request.method === 'OPTIONS')
      return withRequestIdField(preflight(request, methods, binding), requestId);
    const replied = await this.#reply(request, requestId);
    const { refused: error } = replied;
    if (error !== undefined) {
      logRefusal(server.host, {
        endpoint: this.name,
        request,
        error,
        clientId: notedClient(request),
      });
      server.measuring?.refused(this.name, error);
    }
    return withRequestIdField(withFields(replied, anyOrigin ? this.#readable : null), requestId);
  }

  async #reply(request: Request, requestId: string): Promise<Reply> {
    const { onlyReads = false } = this.#description;
    const answer = () => this.#handler(request);
    try {
      return await (onlyReads ? this.#by.server.database.readTogether(answer) : answer());
    } catch (error) {
      return this.#failure(error, request, requestId);
    }
  }

  /**
   * Asks the host to store the changes that the response depends on, for example a sign-out.
   * Returns the response, or an error response if the host cannot store them.
   */
  async #committed(request: Request, response: Response, requestId: string): Promise<Response> {
    const { host } = this.#by.server;
    // Clients have no session, so the host has nothing to store.
    if (this.#description.forPeople !== true || host.commit === null) return response;
    try {
      await host.commit(request, response);
      return response;
    } catch (error) {
      return toResponse(
        withRequestIdField(await this.#failure(error, request, requestId), requestId),
      );
    }
  }

  #failure(error: unknown, request: Request, requestId: string): Promise<Reply> {
    const { forPeople = false } = this.#description;
    const asPage = forPeople && prefersPage(request.headers.get('accept'));
    return this.#by.failures.reply(error, { endpoint: this.name, requestId, asPage, request });
  }
}

/** Names no values of headers, which can be secret. */
function invalid({ status, headers }: Reply): Error {
  const names = Object.keys(headers).join(', ');
  return new TypeError(
    `The status, a header or a cookie of the reply is not valid: ${status}; ${names}`,
  );
}

/** Returns Portico's endpoints and those of features, with their full paths. */
export function endpointsAt(
  handlers: Readonly<Record<EndpointName, Handler>>,
  own: readonly OwnEndpoint[],
  by: Answering,
): readonly Endpoint[] {
  const all = [
    ...ENDPOINT_TABLE.map((description) => ({ description, handler: handlers[description.name] })),
    ...own,
  ];
  return all.flatMap(({ description: each, handler }) =>
    mountedAt(each, by.server).map(
      (description) => new AnsweringEndpoint(description, handler, by),
    ),
  );
}
