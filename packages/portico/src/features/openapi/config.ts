import { z } from 'zod';

/** The setting that this feature adds to `oauth_server`. */
export const openapiShape = {
  openapi: z.boolean({ error: 'must be true or false' }).optional(),
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
