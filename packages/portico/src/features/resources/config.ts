import { z } from 'zod';
import { nonEmptyText, trueOrFalse } from '../../config.ts';

const A_URL =
  'must be the URL of an API: an absolute http or https URL without a query or fragment';

/** Returns true for an absolute http or https URL without query, fragment or credentials. */
function isResourceUrl(text: string): boolean {
  if (!/^https?:\/\/[^?#\s]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

const resource = z.strictObject(
  {
    scopes: z
      .array(z.string({ error: 'must be a scope name' }), {
        error: (issue) =>
          issue.input === undefined
            ? 'is missing; list the scopes that clients can request for this API'
            : 'must be a list of scope names',
      })
      .min(1, 'must contain at least one scope'),
    label: nonEmptyText(
      'a label',
      'set it to the name of the API that the consent page shows, or omit it',
    ).optional(),
    challenge: trueOrFalse.default(false),
  },
  { error: 'must be an object { scopes, label, challenge }' },
);

export const resourcesShape = {
  resources: z
    .record(z.string().refine(isResourceUrl, A_URL), resource, {
      error:
        "must map URLs to settings, for example { 'https://shop.example/api': { scopes: " +
        "['orders:read'] } }",
    })
    .optional(),
};

/** The settings of one API in `oauth_server:resources`. */
export interface ResourceInput {
  /**
   * The scopes from `oauth_server:scopes` that clients can request for this API. Clients can also
   * request `openid`, `profile` and `email`. Required.
   */
  readonly scopes?: readonly string[] | undefined;
  /** The name of the API on the consent page and in the API's metadata. Default: none. */
  readonly label?: string | undefined;
  /**
   * Whether 401 and 403 responses contain a `WWW-Authenticate` header with the URL of the API's
   * metadata (RFC 9728) and the scope that is needed. A new authorization then also includes the
   * scopes for this API that the user has allowed this client before. Default: false.
   */
  readonly challenge?: boolean | undefined;
}

export interface ResourcesConfig {
  /** The validated settings of each API, by URL. */
  readonly resources?: Readonly<Record<string, z.output<typeof resource>>> | undefined;
}

export interface ResourcesConfigInput {
  /**
   * The APIs for which the server issues tokens (RFC 8707). Maps each API's URL to its settings.
   * Each token works for only one of these APIs. A request that names no API gets a token for
   * `oauth_server:audience`. If you set `oauth_server:audience`, it must be one of these URLs.
   * Default: none.
   */
  readonly resources?: Readonly<Record<string, ResourceInput | undefined>> | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ResourcesConfig {}
  interface OAuthServerConfigInput extends ResourcesConfigInput {}
}
