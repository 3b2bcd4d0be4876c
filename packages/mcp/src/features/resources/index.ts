import { ProtocolErrorCode, type JSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpContext } from '../../context.ts';
import type {
  ContributedMethod,
  McpContribution,
  McpFeature,
  MethodAnswer,
} from '../../feature.ts';
import type { McpServer } from '../../mcp-endpoint.ts';
import { cachedFor } from '../../protocol/caching.ts';
import { STATELESS_VERSION } from '../../protocol/versions.ts';
import { getEndpoint } from '../../registering.ts';
import type { RefusalMessages } from '../../tools/tool-access.ts';
import { ResourceReads } from './resource-reads.ts';
import { ResourceRegistry, type RegisteredResource } from './resources.ts';

const NAME = 'resources';

const REFUSALS: RefusalMessages = {
  401: 'This resource belongs to an account: link one first.',
  403: 'The linked account or its token does not reach this resource.',
};

/** The feature for MCP resources: texts and files that clients read by URI (MCP, Resources). */
export const resources: McpFeature = {
  name: NAME,
  start(endpoint): McpContribution {
    const registry = new ResourceRegistry();
    return {
      registry,
      isOffered: () => registry.all().length > 0,
      capabilities: { resources: {} },
      methods: getMethods(registry, endpoint),
      guarded: () =>
        registry
          .all()
          .map(({ uri, personal, scope }) => ({ called: `the resource ${uri}`, personal, scope })),
    };
  },
};

/**
 * Returns the resource registry of an endpoint. You can also register resources after the endpoint
 * has started.
 *
 * @example
 * resourcesOf(createMcpServer({ server, config, tools, log })).register(guide);
 */
export function resourcesOf(endpoint: McpServer): ResourceRegistry {
  return endpoint.registries.get(NAME) as ResourceRegistry;
}

/**
 * Returns the resource registry of the application that is starting. Call this function only in the
 * application's `register`. `path` is the endpoint's path (default: `/mcp`). Throws if you call it
 * anywhere else, or if there is no endpoint at this path.
 *
 * @example
 * register() {
 *   resource().register(guide);
 * }
 */
export function resource(path?: string): ResourceRegistry {
  return resourcesOf(getEndpoint('resource', 'resources', path));
}

function getMethods(
  registry: ResourceRegistry,
  endpoint: McpContext,
): Readonly<Record<string, ContributedMethod>> {
  const reads = new ResourceReads(endpoint);
  const find = (params: JSONRPCRequest['params']) => registry.find(getUri(params));
  return {
    'resources/list': {
      type: 'ListResourcesRequest',
      answer: (_, { version }) =>
        getList(
          'resources',
          registry.all().map((each) => listed(each, version)),
          version,
        ),
    },
    // This list is always empty, but clients request it if the endpoint has resources.
    'resources/templates/list': {
      type: 'ListResourceTemplatesRequest',
      answer: (_, { version }) => getList('resourceTemplates', [], version),
    },
    'resources/read': {
      type: 'ReadResourceRequest',
      uses(params) {
        const used = find(params);
        return used === null ? null : { used, refusals: REFUSALS };
      },
      answer(params, caller) {
        const found = find(params);
        return found === null
          ? notFound(getUri(params), caller.version)
          : reads.read(found, params, caller);
      },
    },
  };
}

function getUri(params: JSONRPCRequest['params']): string {
  const uri = params?.['uri'];
  return typeof uri === 'string' ? uri : '';
}

function getList(member: string, list: readonly object[], version: string): MethodAnswer {
  return { result: { [member]: list, ...cachedFor(version) } };
}

/**
 * Returns a resource's entry for `resources/list`, with the members that this protocol version
 * defines.
 */
function listed(
  { uri, name, title, description, mimeType }: RegisteredResource,
  version: string,
): Readonly<Record<string, unknown>> {
  return {
    uri,
    name,
    ...(title !== null && version >= '2025-06-18' ? { title } : {}),
    ...(description === null ? {} : { description }),
    ...(mimeType === null ? {} : { mimeType }),
  };
}

/**
 * The error code for an unknown resource in versions up to MCP 2025-11-25 (Resources, Error
 * Handling). Later versions use -32602.
 */
const RESOURCE_NOT_FOUND = -32_002;

function notFound(uri: string, version: string): MethodAnswer {
  const code = version === STATELESS_VERSION ? ProtocolErrorCode.InvalidParams : RESOURCE_NOT_FOUND;
  return { error: { code, message: 'No resource has this URI.', data: { uri } } };
}
