import type { Operations } from './operation.ts';
import { AUTHORIZE_PATH, TOKEN_PATH, type Mounting } from '../paths.ts';

/** The properties of an endpoint that do not depend on the server's configuration. */
export interface EndpointDescription {
  /** The endpoint's name, for example `oauth_server_token`. */
  readonly name: string;
  /** The path below `base_path`. */
  readonly path: string;
  /** The methods that the endpoint handles. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** Whether pages of any origin may call the endpoint. Such an endpoint reads no session. */
  readonly anyOrigin?: boolean;
  /**
   * Whether people open the endpoint in their browser. The endpoint can then answer errors with
   * pages.
   */
  readonly forPeople?: boolean;
  /**
   * Whether the endpoint only reads data. Then all reads of a request use the same database
   * snapshot.
   */
  readonly onlyReads?: boolean;
  /**
   * Whether the endpoint serves a description of the issuer. Clients then also look for the
   * description at a second URL, in which the path of the issuer follows the path of the endpoint
   * (RFC 8414 section 3.1).
   */
  readonly describesIssuer?: boolean;
  /** Loads the OpenAPI description of each of the endpoint's methods. */
  readonly operations?: () => Promise<Operations>;
}

/** Every endpoint of the server, with its path below `base_path`. */
export const ENDPOINT_TABLE = [
  { name: 'oauth_server_authorize', path: AUTHORIZE_PATH, methods: ['GET'], forPeople: true },
  { name: 'oauth_server_consent', path: AUTHORIZE_PATH, methods: ['POST'], forPeople: true },
  { name: 'oauth_server_token', path: TOKEN_PATH, methods: ['POST'], anyOrigin: true },
  { name: 'oauth_server_revoke', path: '/oauth/revoke', methods: ['POST'], anyOrigin: true },
  {
    name: 'oauth_server_introspect',
    path: '/oauth/introspect',
    methods: ['POST'],
    onlyReads: true,
  },
  {
    name: 'oauth_server_userinfo',
    path: '/oauth/userinfo',
    methods: ['GET', 'POST'],
    anyOrigin: true,
    onlyReads: true,
  },
  {
    name: 'oauth_server_openid_configuration',
    path: '/.well-known/openid-configuration',
    methods: ['GET'],
    anyOrigin: true,
    describesIssuer: true,
  },
  {
    name: 'oauth_server_metadata',
    path: '/.well-known/oauth-authorization-server',
    methods: ['GET'],
    anyOrigin: true,
    describesIssuer: true,
  },
  { name: 'oauth_server_jwks', path: '/.well-known/jwks.json', methods: ['GET'], anyOrigin: true },
] as const satisfies readonly EndpointDescription[];

/**
 * The endpoint for resource metadata (RFC 9728). Present if challenges link to metadata. Its path
 * depends on the resource's path.
 */
export const RESOURCE_METADATA = {
  name: 'oauth_server_resource_metadata',
  methods: ['GET'],
  anyOrigin: true,
} as const satisfies Omit<EndpointDescription, 'path'>;

export type EndpointName = (typeof ENDPOINT_TABLE)[number]['name'];

/**
 * Returns the endpoint with its full path. Returns two endpoints if it describes an issuer with a
 * path.
 */
export function mountedAt(
  description: EndpointDescription,
  { basePath, mountPath }: Mounting,
): readonly EndpointDescription[] {
  const { name, path, describesIssuer = false } = description;
  const mounted = { ...description, path: `${mountPath}${path}` };
  return describesIssuer && basePath !== ''
    ? [mounted, { ...description, name: `${name}_in_front`, path: `${path}${basePath}` }]
    : [mounted];
}

/**
 * Returns the names of the endpoints that the application's CSRF check must skip, including
 * endpoints of these features. Each of these endpoints has its own protection or reads no session.
 */
export function csrfExemptRoutes(
  features: readonly { readonly endpoints?: readonly EndpointDescription[] }[],
): Readonly<Record<string, boolean>> {
  const own = features.flatMap(({ endpoints = [] }) => endpoints);
  const withPost = [...ENDPOINT_TABLE, ...own].filter(({ methods }: EndpointDescription) =>
    methods.includes('POST'),
  );
  return Object.fromEntries(withPost.map(({ name }) => [name, true]));
}
