import { z } from 'zod';
import { trueOrFalse } from '../../config.ts';

/**
 * Matches a level of assurance. Spaces separate the levels in `acr_values`. The `WWW-Authenticate`
 * header puts them in quotes, so quotes and backslashes are not allowed.
 */
const ACR = /^[\x21\x23-\x5B\x5D-\x7E]{1,255}$/;

export const reauthenticationShape = {
  reauthentication: trueOrFalse.optional(),
  acr_values: z
    .array(
      z
        .string({ error: 'must be a string' })
        .regex(
          ACR,
          'must have 1 to 255 printable ASCII characters, and no spaces, quotes or backslashes',
        ),
      { error: "must be a list, for example ['urn:example:silver', 'urn:example:gold']" },
    )
    .optional(),
};

export interface ReauthenticationConfig {
  /**
   * Whether clients can require a user to authenticate again, with `prompt=login`, `max_age` or
   * `acr_values` (OpenID Connect Core section 3.1.2.1). ID tokens then also say when and how the
   * user authenticated. The host must provide `authenticatedAt` and `reauthenticateUrl`. Default:
   * false.
   */
  readonly reauthentication?: boolean | undefined;
  /**
   * The levels of assurance that your sign-in pages can reach. Portico publishes these levels as
   * `acr_values_supported`, and clients can request them in `acr_values`. Default: none.
   */
  readonly acr_values?: readonly string[] | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ReauthenticationConfig {}
  interface OAuthServerConfigInput extends ReauthenticationConfig {}
}
