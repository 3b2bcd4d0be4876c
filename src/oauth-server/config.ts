import { z } from 'zod';
import { LONGEST_LIFETIME } from '../contracts/lifetimes.ts';
import type { ClaimsMapper } from './tokens/claims.ts';
import { IDENTITY_SCOPES, isScopeToken, OFFLINE_ACCESS } from './tokens/scopes.ts';

const required = (what: string, hint: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing; ${hint}` : `must be ${what}; ${hint}`,
});

const seconds = z
  .int({ error: 'must be a whole number of seconds' })
  .min(1, 'must be at least 1 second')
  .max(LONGEST_LIFETIME, `must be at most ${LONGEST_LIFETIME} seconds, a century`);

const nonEmptyText = (what: string, hint: string) =>
  z.string(required(what, hint)).refine((text) => text.trim() !== '', `is empty; ${hint}`);

const scopeDefinition = z.union(
  [
    nonEmptyText('a label', 'say what it allows, in words for the person who is asked'),
    z.strictObject({
      label: nonEmptyText('a label', 'say what it allows, in words for the person who is asked'),
      permission: nonEmptyText('a permission', 'name the permission a person must hold').optional(),
    }),
  ],
  { error: 'must be a label, or an object { label, permission }' },
);

const scopesHint = "map each scope to a label, for example { 'notes:read': 'Read your notes' }";

const scopeName = z
  .string()
  .refine(isScopeToken, 'is not a scope name (RFC 6749 section 3.3)')
  .refine(
    (name) => name !== OFFLINE_ACCESS && !Object.hasOwn(IDENTITY_SCOPES, name),
    'is built in and needs no configuring; remove it',
  );

const scopes = z.record(scopeName, scopeDefinition, required('a map of scope names', scopesHint));

const audience = z
  .string({ error: 'must be the URL of the API that tokens are for, or empty' })
  .refine((value) => value === '' || isAbsoluteUri(value), 'must be an absolute URL without a fragment');

function isAbsoluteUri(value: string): boolean {
  // RFC 8707 section 2: an absolute URI without a fragment.
  return URL.canParse(value) && !value.includes('#') && /^https?:\/\//i.test(value);
}

/** The section `oauth_server` of the configuration, with its defaults. Times are in seconds. */
export const oauthServerConfiguration = z.strictObject({
  name: nonEmptyText('a display name', 'set the name that people know your application by'),
  scopes,
  audience: audience.default(''),
  login_route: nonEmptyText('a route name or a path', 'name the route of your sign-in page').default('login'),
  routes: z.boolean({ error: 'must be true or false' }).default(true),
  claims: z
    .custom<ClaimsMapper>(
      (value) => typeof value === 'function',
      'must be a function (user) => map of claims',
    )
    .optional(),
  key_path: nonEmptyText('a directory', 'name the directory of the signing keys').default(
    'storage/oauth/keys',
  ),
  access_token_ttl: seconds.default(3600),
  refresh_token_ttl: seconds.default(2_592_000),
  id_token_ttl: seconds.default(3600),
  code_ttl: seconds.default(60),
  consent_ttl: seconds.default(600),
});

/** The validated section `oauth_server`. */
export type OAuthServerConfig = z.output<typeof oauthServerConfiguration>;

/** What an application writes in its section `oauth_server`. What is left out, or undefined, has its default. */
export interface OAuthServerConfigInput {
  /** The name that people know the application by. Needed. */
  readonly name?: string | undefined;
  /**
   * The scopes that clients can ask for, each with its label for people; a permission of the same name is needed, or the one that is
   * named. `openid`, `profile` and `email` are built in. Needed.
   */
  readonly scopes?: Readonly<Record<string, ScopeInput | undefined>> | undefined;
  /** The URL of the API that tokens are for (RFC 8707); none. */
  readonly audience?: string | undefined;
  /** The sign-in page: the name of a route, or a path that begins with `/`; `login`. */
  readonly login_route?: string | undefined;
  /** Whether the plugin adds the endpoints to the application's routes; true. */
  readonly routes?: boolean | undefined;
  /** Claims about a person, beside those of the profile. */
  readonly claims?: ClaimsMapper | undefined;
  /** The directory of the signing keys; `storage/oauth/keys`. */
  readonly key_path?: string | undefined;
  /** How long an access token lives, in seconds; 3600. */
  readonly access_token_ttl?: number | undefined;
  /** How long a refresh token lives, in seconds; 2592000. */
  readonly refresh_token_ttl?: number | undefined;
  /** How long an ID token lives, in seconds; 3600. */
  readonly id_token_ttl?: number | undefined;
  /** How long an authorization code lives, in seconds; 60. */
  readonly code_ttl?: number | undefined;
  /** How long somebody may take to answer the consent screen, in seconds; 600. */
  readonly consent_ttl?: number | undefined;
}

/** A scope as it is configured: what it allows, in words for the person who is asked; with the permission it needs. */
export type ScopeInput =
  | string
  | {
      /** What it allows, in words for the person who is asked. Needed. */
      readonly label?: string | undefined;
      /** The permission that a person must hold; the scope's own name. */
      readonly permission?: string | undefined;
    };
