import { trueOrFalse } from '../../config.ts';

/** The setting that this feature adds to `oauth_server`. */
export const openapiShape = {
  openapi: trueOrFalse.optional(),
};

export interface OpenApiConfig {
  /**
   * Whether the server describes its endpoints at `/oauth/openapi.json` (OpenAPI 3.1). Default:
   * false.
   */
  readonly openapi?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends OpenApiConfig {}
  interface OAuthServerConfigInput extends OpenApiConfig {}
}
