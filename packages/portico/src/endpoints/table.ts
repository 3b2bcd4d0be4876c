import { AUTHORIZE_PATH, TOKEN_PATH, type Mounting } from '../paths.ts';

/** The fixed facts about an endpoint. */
export interface EndpointDescription {
  /** Such as `oauth_server_token`. */
  readonly name: string;
  /** Below `base_path`. */
  readonly path: string;
  /** The methods that it answers. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** Whether a page of any origin may call it: it reads no session. */
  readonly anyOrigin?: boolean;
  /** Whether people see it in their browser, so that a failure can be a page. */
  readonly forPeople?: boolean;
  /** Whether it changes nothing, so that all of its reads may see the same moment. */
  readonly onlyReads?: boolean;
  /**
   * Whether it describes the issuer, so that it is also expected in front of the issuer's path (RFC
   * 8414 section 3.1).
   */
  readonly describesIssuer?: boolean;
}

/** Every endpoint of the server, with its path below `base_path`. */
export const ENDPOINT_TABLE = [
  { name: 'oauth_server_authorize', path: AUTHORIZE_PATH, methods: ['GET'], forPeople: true },
  { name: 'oauth_server_consent', path: AUTHORIZE_PATH, methods: ['POST'], forPeople: true },
  { name: 'oauth_server_token', path: TOKEN_PATH, methods: ['POST'], anyOrigin: true },
  { name: 'oauth_server_revoke', path: '/oauth/revoke', methods: ['POST'], anyOrigin: true },
  { name: 'oauth_server_introspect', path: '/oauth/introspect', methods: ['POST'], onlyReads: true },
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
 * The metadata of the resource (RFC 9728), if challenges name it: its path is derived from that of
 * the resource.
 */
export const RESOURCE_METADATA = {
  name: 'oauth_server_resource_metadata',
  methods: ['GET'],
  anyOrigin: true,
} as const satisfies Omit<EndpointDescription, 'path'>;

export type EndpointName = (typeof ENDPOINT_TABLE)[number]['name'];

/** The endpoint with its whole path; two endpoints if it describes an issuer with a path. */
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
 * The names of the endpoints that are exempt from the session-wide CSRF check: they protect
 * themselves, or read no session. Includes those of these features.
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
