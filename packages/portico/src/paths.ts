/** The authorization endpoint, below `base_path`. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/** The token endpoint, below `base_path`. */
export const TOKEN_PATH = '/oauth/token';

/** The paths of the endpoints: `mountPath` is their prefix in a request as it arrives. */
export interface Mounting {
  readonly basePath: string;
  readonly mountPath: string;
}

/** The same as browsers request it: for forms, redirects and cookies. */
export interface BrowserPaths {
  readonly authorize: string;
  /** The application's own first page. */
  readonly home: string;
}

/**
 * A proxy that removes the base path from requests does not add it to answers: they contain the
 * whole path.
 */
export function browserPaths({ basePath, mountPath }: Mounting): BrowserPaths {
  return {
    authorize: `${basePath}${AUTHORIZE_PATH}`,
    home: mountPath === basePath ? '/' : `${basePath}/`,
  };
}
