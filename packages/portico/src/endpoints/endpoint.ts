import type { Database } from '@portico/sql';
import type { BindingOffer } from '../http/challenges.ts';
import { prefersPage } from '../http/accept.ts';
import { runInContext } from '../http/context.ts';
import type { RunFrom } from '../auditing/origin.ts';
import { requestIdOf } from '../http/request-id.ts';
import { preflight, readableHeaders } from '../replies/cross-origin.ts';
import type { CompleteHost } from '../host.ts';
import type { Measuring } from '../measuring/measuring.ts';
import { logRefusal, notedClient } from '../refusals.ts';
import { toResponse, type Reply } from '../replies/responses.ts';
import type { Failures } from '../replies/failures.ts';
import {
  ENDPOINT_TABLE,
  mountedAt,
  RESOURCE_METADATA,
  type EndpointDescription,
  type EndpointName,
} from './table.ts';
import type { Mounting } from '../paths.ts';

/** An endpoint of the server: mounted by its path, named for `csrf_exempt_routes`. */
export interface Endpoint {
  /** Such as `oauth_server_token`. */
  readonly name: string;
  /** The methods that it answers; GET also answers HEAD. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
  /** Set if it answers each of them with 405: they are not offered, and no `Allow` names them. */
  readonly refusesMethods?: true;
  /**
   * The path of a request for it, as it arrives: such as `/oauth/token`, with `base_path` in front
   * unless a proxy removes it.
   */
  readonly path: string;
  /** Never rejects: errors are answered. Every member of the host contract receives `context`. */
  readonly handle: (request: Request, context?: unknown) => Promise<Response>;
}

/** Answers a request, or throws the error that refuses it. */
export type Handler = (request: Request) => Promise<Reply>;

/** An endpoint of a feature. */
export interface OwnEndpoint {
  readonly description: EndpointDescription;
  readonly handler: Handler;
}

export interface EndpointsOptions {
  readonly handlers: Readonly<Record<EndpointName, Handler>>;
  /** The endpoints of features. */
  readonly own: readonly OwnEndpoint[];
  readonly mounting: Mounting;
  readonly failures: Failures;
  readonly host: Pick<CompleteHost, 'log' | 'clientAddress' | 'commit'>;
  readonly database: Pick<Database, 'readTogether'>;
  /**
   * The header fields of bound tokens that pages of other origins may send and read; null if there
   * are none.
   */
  readonly binding: BindingOffer | null;
  /** Wraps the work of a request, so that recorded events name it. Null if nothing is recorded. */
  readonly runFrom: RunFrom | null;
  /** Null if nothing is measured. */
  readonly measuring: Measuring | null;
  /** The path of the resource's metadata, and its handler; null unless it is published. */
  readonly resourceMetadata: { readonly path: string; readonly handler: Handler } | null;
}

/** Every endpoint of the tables, with its handler, and the metadata of the resource. */
export function createEndpoints(options: EndpointsOptions): readonly Endpoint[] {
  const { handlers, own, mounting, resourceMetadata, ...parts } = options;
  const endpoints = ENDPOINT_TABLE.flatMap((each) => {
    const handler = handlers[each.name];
    return mountedAt(each, mounting).map((description) => createEndpoint({ ...parts, description, handler }));
  });
  for (const { description: each, handler } of own) {
    const described = mountedAt(each, mounting);
    endpoints.push(...described.map((description) => createEndpoint({ ...parts, description, handler })));
  }
  if (resourceMetadata === null) return endpoints;
  const { path, handler } = resourceMetadata;
  return [...endpoints, createEndpoint({ ...parts, description: { ...RESOURCE_METADATA, path }, handler })];
}

function createEndpoint({
  description,
  handler,
  failures,
  host,
  database,
  binding,
  runFrom,
  measuring,
}: Omit<EndpointsOptions, 'handlers' | 'own' | 'mounting' | 'resourceMetadata'> & {
  readonly description: EndpointDescription;
  readonly handler: Handler;
}): Endpoint {
  const { name, path, methods, anyOrigin = false, forPeople = false, onlyReads = false } = description;
  // Applications send no session, so there is nothing to commit.
  const commit = forPeople ? host.commit : null;
  const readable = readableHeaders(binding);
  const handle: Handler = onlyReads ? (request) => database.readTogether(() => handler(request)) : handler;

  function failure(error: unknown, request: Request, requestId: string): Promise<Reply> {
    const asPage = forPeople && prefersPage(request.headers.get('accept'));
    return failures.reply(error, { endpoint: name, requestId, asPage, request });
  }

  async function answer(request: Request): Promise<Response> {
    const requestId = requestIdOf(request);
    if (anyOrigin && request.method === 'OPTIONS') {
      return toResponse(preflight(request, methods, binding), requestId);
    }
    let replied: Reply;
    try {
      replied = await handle(request);
    } catch (error) {
      replied = await failure(error, request, requestId);
    }
    const { refused: error } = replied;
    if (error !== undefined) {
      logRefusal(host, { endpoint: name, request, error, clientId: notedClient(request) });
      measuring?.refused(name, error);
    }
    const read = anyOrigin ? { ...replied, headers: { ...replied.headers, ...readable } } : replied;
    const response = toResponse(read, requestId);
    return commit === null ? response : committed(commit, request, response, requestId);
  }

  /** Fails if a change that the answer depends on, such as a sign-out, cannot be stored. */
  async function committed(
    keep: NonNullable<typeof commit>,
    request: Request,
    response: Response,
    requestId: string,
  ): Promise<Response> {
    try {
      await keep(request, response);
      return response;
    } catch (error) {
      return toResponse(await failure(error, request, requestId), requestId);
    }
  }

  const task = { kind: 'endpoint', name, route: path } as const;
  const measured: (request: Request) => Promise<Response> =
    measuring === null ? answer : (request) => measuring.endpoint(task, request, () => answer(request));
  return {
    name,
    path,
    methods: anyOrigin ? [...methods, 'OPTIONS'] : methods,
    handle: (request, context) => {
      const work = () => measured(request);
      return runInContext(
        context,
        requestIdOf(request),
        runFrom === null ? work : () => runFrom(() => request, context, work),
      );
    },
  };
}
