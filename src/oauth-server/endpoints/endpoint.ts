import type { Database } from '../../sql/contract.ts';
import { prefersPage } from '../../http/accept.ts';
import { requestIdOf } from '../../http/request-id.ts';
import { PREFLIGHT, readableByAnyOrigin } from '../replies/cross-origin.ts';
import type { Host } from '../host.ts';
import { logRefusal, notedClient } from '../refusals.ts';
import { toResponse, type Reply } from '../replies/responses.ts';
import type { Failures } from '../replies/failures.ts';
import { ENDPOINT_TABLE, type EndpointDescription, type EndpointName } from './table.ts';

/** An endpoint of the server: mounted by its path, named for `csrf_exempt_routes`. */
export interface Endpoint {
  /** Such as `oauth_server_token`. */
  readonly name: string;
  /** The methods that it answers; HEAD goes to the one with GET. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
  /** Set when it answers each of them with 405: they are not offered, and no `Allow` names them. */
  readonly refusesMethods?: true;
  /** Such as `/oauth/token`. */
  readonly path: string;
  /** Never rejects: what goes wrong is answered. */
  readonly handle: (request: Request) => Promise<Response>;
}

/** Answers a request, or throws the error that refuses it. */
export type Handler = (request: Request) => Promise<Reply>;

export interface EndpointsOptions {
  readonly handlers: Readonly<Record<EndpointName, Handler>>;
  readonly failures: Failures;
  readonly host: Pick<Host, 'log' | 'clientAddress'>;
  readonly database: Pick<Database, 'readTogether'>;
}

/** Every endpoint of the table, with its handler. */
export function createEndpoints({ handlers, ...parts }: EndpointsOptions): readonly Endpoint[] {
  return ENDPOINT_TABLE.map((description) =>
    createEndpoint({ ...parts, description, handler: handlers[description.name] }),
  );
}

function createEndpoint({
  description,
  handler,
  failures,
  host,
  database,
}: Omit<EndpointsOptions, 'handlers'> & {
  readonly description: EndpointDescription;
  readonly handler: Handler;
}): Endpoint {
  const { name, path, methods, anyOrigin = false, forPeople = false, onlyReads = false } = description;
  const handle: Handler = onlyReads ? (request) => database.readTogether(() => handler(request)) : handler;

  async function reply(request: Request, requestId: string): Promise<Reply> {
    const replied = await handle(request).catch((error: unknown) => {
      const asPage = forPeople && prefersPage(request.headers.get('accept'));
      return failures.reply(error, { endpoint: name, requestId, asPage });
    });
    const { refused: error } = replied;
    if (error !== undefined)
      logRefusal(host, { endpoint: name, request, error, clientId: notedClient(request) });
    return anyOrigin ? readableByAnyOrigin(replied) : replied;
  }

  return {
    name,
    path,
    methods: anyOrigin ? [...methods, 'OPTIONS'] : methods,
    async handle(request) {
      const requestId = requestIdOf(request);
      const isPreflight = anyOrigin && request.method === 'OPTIONS';
      return toResponse(isPreflight ? PREFLIGHT : await reply(request, requestId), requestId);
    },
  };
}
