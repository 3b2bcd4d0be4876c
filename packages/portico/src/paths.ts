/** The path of the authorization endpoint, below `base_path`. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/** The path of the token endpoint, below `base_path`. */
export const TOKEN_PATH = '/oauth/token';

/**
 * The path prefixes of the endpoints. `mountPath` is the prefix in the requests that the server
 * receives.
 */
export interface Mounting {
  readonly basePath: string;
  readonly mountPath: string;
}

/** The paths that browsers request, for forms, redirects and cookies. */
export interface BrowserPaths {
  readonly authorize: string;
  /** The application's home page. */
  readonly home: string;
}

/**
 * Returns the paths that browsers request. `authorize` always contains the base path. `home`
 * contains the base path only if a proxy removes the base path from requests, because this proxy
 * does not add it to responses.
 */
export function browserPaths({ basePath, mountPath }: Mounting): BrowserPaths {
  return {
    authorize: `${basePath}${AUTHORIZE_PATH}`,
    home: mountPath === basePath ? '/' : `${basePath}/`,
  };
}
