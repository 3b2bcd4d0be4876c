/** Where people come in their browsers, below `base_path`. */
export const AUTHORIZE_PATH = '/oauth/authorize';

/** Where codes and refresh tokens are exchanged, below `base_path`. */
export const TOKEN_PATH = '/oauth/token';

/** Where clients register themselves, below `base_path`. */
export const REGISTER_PATH = '/oauth/register';

/** Where the endpoints are: `mountPath` stands before their paths in a request that arrives. */
export interface Mounting {
  readonly basePath: string;
  readonly mountPath: string;
}

/** The same as browsers ask for it: for forms, redirects and cookies. */
export interface BrowserPaths {
  readonly authorize: string;
  /** The application's own first page. */
  readonly home: string;
}

/** A proxy that takes the base path away from requests puts nothing back into answers: what they name has all of it. */
export function browserPaths({ basePath, mountPath }: Mounting): BrowserPaths {
  return {
    authorize: `${basePath}${AUTHORIZE_PATH}`,
    home: mountPath === basePath ? '/' : `${basePath}/`,
  };
}
