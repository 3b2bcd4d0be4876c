/** Below `base_path`. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/** Below `base_path`. */
export const TOKEN_PATH = '/oauth/token';

/** `mountPath` is the prefix in the requests that the server receives. */
export interface Mounting {
  readonly basePath: string;
  readonly mountPath: string;
}

/** The paths in forms, redirects and cookies. */
export interface BrowserPaths {
  readonly authorize: string;
  /** The application's home page. */
  readonly home: string;
}

/**
 * `authorize` always contains the base path. `home` contains it only if a proxy removes it from
 * requests. Such a proxy does not add it to responses.
 */
export function browserPaths({ basePath, mountPath }: Mounting): BrowserPaths {
  return {
    authorize: `${basePath}${AUTHORIZE_PATH}`,
    home: mountPath === basePath ? '/' : `${basePath}/`,
  };
}
