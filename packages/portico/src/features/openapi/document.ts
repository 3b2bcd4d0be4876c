import type { AuthorizationServer } from '../../authorization-server.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { ERROR, errorAnswer, pageErrorAnswer, type Operation } from '../../endpoints/operation.ts';
import { endpointOperations } from './endpoint-operations.ts';

/** Changes only when clients must change how they send requests. */
const VERSION = '1';

/** Returns an OpenAPI 3.1 document of the endpoints, sorted by path. */
export async function openApiDocument(
  server: AuthorizationServer,
): Promise<Readonly<Record<string, unknown>>> {
  const paths = new Map<string, Record<string, unknown>>();
  for (const endpoint of server.endpoints) {
    const path = publicPath(server, endpoint);
    const described = paths.get(path) ?? {};
    paths.set(path, { ...described, ...(await operationsOf(server, endpoint)) });
  }
  return {
    openapi: '3.1.1',
    info: { title: server.config.name, version: VERSION },
    servers: [{ url: new URL(server.issuer).origin }],
    paths: Object.fromEntries([...paths].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    components: {
      schemas: { Error: ERROR },
      securitySchemes: {
        client_secret_basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The client id and the client secret (RFC 6749 section 2.3.1).',
        },
        access_token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token (RFC 6750).',
        },
        registration_access_token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A registration access token (RFC 7592) or an initial access token.',
        },
      },
    },
  };
}

/**
 * Returns the path that clients request. It includes `base_path`, even if a proxy removes it. Some
 * endpoints are not below `base_path`.
 */
function publicPath(
  { basePath, mountPath }: AuthorizationServer,
  { name, path }: Endpoint,
): string {
  const isAtOrigin = /_in_front$|^oauth_server_resource_metadata/.test(name);
  return isAtOrigin ? path : `${basePath}${path.slice(mountPath.length)}`;
}

async function operationsOf(
  server: AuthorizationServer,
  endpoint: Endpoint,
): Promise<Readonly<Record<string, unknown>>> {
  const described =
    (await (endpoint.operations?.() ?? endpointOperations(server, endpoint.name))) ?? {};
  const methods = endpoint.methods.filter((method) => method !== 'OPTIONS');
  return Object.fromEntries(
    methods.flatMap((method) => {
      const operation = described[method.toLowerCase() as keyof typeof described];
      if (operation === undefined) return [];
      const operationId =
        methods.length === 1 ? endpoint.name : `${endpoint.name}_${method.toLowerCase()}`;
      return [[method.toLowerCase(), { operationId, ...withFaults(operation) }]];
    }),
  );
}

/** Adds the responses of any endpoint when the server fails. */
function withFaults(operation: Operation): Operation {
  const isForPeople = Object.values(operation.responses).some(
    ({ content = {} }) => content['text/html'] !== undefined,
  );
  const answer = isForPeople ? pageErrorAnswer : errorAnswer;
  return {
    ...operation,
    responses: {
      500: answer('The server failed. Its log describes the error.'),
      503: answer('The server cannot answer now. Try again after `Retry-After`.'),
      ...operation.responses,
    },
  };
}
