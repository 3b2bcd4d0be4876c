import type { Operations } from './operation.ts';
import { AUTHORIZE_PATH, TOKEN_PATH, type Mounting } from '../paths.ts';

/** What defines an endpoint, independently of the server's configuration. */
export interface EndpointDescription {
  /** The endpoint's name, for example `oauth_server_token`. */
  readonly name: string;
  /** The path of the endpoint below `base_path`. */
  readonly path: string;
  /** The HTTP methods that the endpoint handles. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** True if pages of any origin may call the endpoint. It then reads no session. */
  readonly anyOrigin?: boolean;
  /** True if users open the endpoint in their browser. It can then respond to errors with pages. */
  readonly forPeople?: boolean;
  /**
   * True if the endpoint only reads data. The store may then combine the reads of a request
   * (`Database.readTogether`).
   */
  readonly onlyReads?: boolean;
  /**
   * True if the endpoint serves a document about the issuer. Clients then also look for it at a
   * second URL, in which the issuer's path comes after the endpoint's path (RFC 8414 section 3.1).
   */
  readonly describesIssuer?: boolean;
  /** Loads the OpenAPI descriptions of the endpoint's methods. */
  readonly operations?: () => Promise<Operations>;
}

/** Portico's own endpoints, with their paths below `base_path`. */
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
 * Serves resource metadata (RFC 9728), if challenges link to it. Its path depends on the path of
 * the resource.
 */
export const RESOURCE_METADATA = {
  name: 'oauth_server_resource_metadata',
  methods: ['GET'],
  anyOrigin: true,
} as const satisfies Omit<EndpointDescription, 'path'>;

export type EndpointName = (typeof ENDPOINT_TABLE)[number]['name'];

/**
 * Returns the endpoint with its full path. An endpoint that describes the issuer gets a second path
 * if the issuer has a path.
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
 * Returns the names of the endpoints that the application's CSRF check must skip, with those of
 * these features. This is safe: each of them has its own protection or reads no session.
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
