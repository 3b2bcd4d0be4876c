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
