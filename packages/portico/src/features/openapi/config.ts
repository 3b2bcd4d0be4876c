import { trueOrFalse } from '../../config.ts';

export const openapiShape = {
  openapi: trueOrFalse.optional(),
};

export interface OpenApiConfig {
  /**
   * Whether the server publishes an OpenAPI 3.1 description of its endpoints at
   * `/oauth/openapi.json`. Default: false.
   */
  readonly openapi?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends OpenApiConfig {}
  interface OAuthServerConfigInput extends OpenApiConfig {}
}
