import { z } from 'zod';
import { LONGEST_LIFETIME } from './keys/times.ts';
import { canonicalTag } from './pages/language-ranges.ts';
import { claimNameProblem, type ClaimsMapper } from './tokens/claims.ts';
import { IDENTITY_SCOPES, isScopeToken, OFFLINE_ACCESS } from './tokens/scopes.ts';

const required = (what: string, hint: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing; ${hint}` : `must be ${what}; ${hint}`,
});

export const trueOrFalse = z.boolean({ error: 'must be true or false' });

/** A duration, such as the lifetime of a token. */
export const seconds = z
  .int({ error: 'must be a whole number of seconds' })
  .min(1, 'must be at least 1 second')
  .max(LONGEST_LIFETIME, `must be at most ${LONGEST_LIFETIME} seconds (100 years)`);

/** The text must not be blank. */
export const nonEmptyText = (what: string, hint: string) =>
  z.string(required(what, hint)).refine((text) => text.trim() !== '', `is empty; ${hint}`);

/**
 * The claims that a scope releases. Problems are reported at the list or at a claim, not at the
 * whole scope.
 */
const claims = z
  .custom<readonly string[]>(() => true)
  .superRefine((value: unknown, context) => {
    if (!Array.isArray(value)) {
      const message = "must be a list of claims, for example ['roles', 'tenant_id']";
      return context.addIssue({ code: 'custom', message });
    }
    for (const [index, name] of value.entries()) {
      const problem =
        typeof name === 'string' ? claimNameProblem(name) : 'must be the name of a claim';
      if (problem !== null) context.addIssue({ code: 'custom', message: problem, path: [index] });
    }
  });

const scopeShape = {
  label: nonEmptyText('a label', 'describe what it allows, for the person on the consent screen'),
  description: nonEmptyText('a string', 'explain what it allows, or omit it').optional(),
  permission: nonEmptyText(
    'a permission',
    'set it to the permission that a person must have',
  ).optional(),
  claims: claims.optional(),
};

/** Without the keys that features add. */
export const SCOPE_KEYS: readonly string[] = Object.keys(scopeShape);

export interface ScopeSettings extends z.output<z.ZodObject<typeof scopeShape>> {}

/** `more` contains the keys that features add to scopes. */
function scopeDefinition(more: z.ZodRawShape): z.ZodType<string | ScopeSettings, ScopeInput> {
  const settings = z.strictObject({ ...scopeShape, ...more }) as unknown as z.ZodType<
    ScopeSettings,
    ScopeConfig
  >;
  return z.union(
    [
      nonEmptyText('a label', 'describe what it allows, for the person on the consent screen'),
      settings,
    ],
    { error: 'must be a label (a string), or an object { label, permission }' },
  );
}

const scopesHint = "map each scope to a label, for example { 'notes:read': 'Read your notes' }";

const scopeName = z
  .string()
  .refine(isScopeToken, 'is not a scope name (RFC 6749 section 3.3)')
  .refine(
    (name) => name !== OFFLINE_ACCESS && !Object.hasOwn(IDENTITY_SCOPES, name),
    'is built in and needs no configuration; remove it',
  );

/** `more` contains the keys that features add to scopes. */
export function scopesSchema(more: z.ZodRawShape) {
  return z.record(
    scopeName,
    scopeDefinition(more),
    required('an object with scope names as keys', scopesHint),
  );
}

const audience = z
  .string({ error: 'must be the URL of the API that tokens are for, or empty' })
  .refine(
    (value) => value === '' || isAbsoluteUri(value),
    'must be an absolute URL without a fragment',
  );

function isAbsoluteUri(value: string): boolean {
  // A resource must be an absolute URI without a fragment (RFC 8707 section 2).
  return URL.canParse(value) && !value.includes('#') && /^https?:\/\//i.test(value);
}

const languages = z.union(
  [
    z.boolean(),
    z
      .array(
        z
          .string()
          .refine(
            (tag) => canonicalTag(tag) !== null,
            'must be a language tag (BCP 47), for example de or pt-BR',
          ),
      )
      .min(1, 'must contain at least one language; for English only, use false'),
  ],
  {
    error(issue) {
      const [, ofList = []] = Array.isArray(issue.input) ? issue.errors : [];
      if (ofList.length === 0)
        return "must be true, false or a list of languages such as ['en', 'de']";
      return ofList.map(({ path: place, message }) => [...place, message].join(': ')).join('; ');
    },
  },
);

/** Portico's own settings in `oauth_server`, with their defaults. Times are in seconds. */
export const coreShape = {
  name: nonEmptyText('a display name', 'set the name that people know your application by'),
  scopes: scopesSchema({}),
  audience: audience.default(''),
  login_route: nonEmptyText(
    'a route name or a path',
    'name the route of your sign-in page',
  ).default('login'),
  routes: trueOrFalse.default(true),
  claims: z
    .custom<ClaimsMapper>(
      (value) => typeof value === 'function',
      'must be a function that takes a user and returns an object of claims',
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
  languages: languages.optional(),
};

/** The section `oauth_server` after validation. Features add their own settings. */
export interface OAuthServerConfig extends z.output<z.ZodObject<typeof coreShape>> {}

// These types are written by hand, like those of the features and the kit. TypeScript 7's language
// server shows no doc comments for types that are derived from a schema. `npm run configuration`
// compares the types with the schema.

/**
 * The settings that you write in the section `oauth_server`. If you omit a setting, or set it to
 * undefined, its default applies.
 */
export interface OAuthServerConfigInput {
  /** The name of your application, as users know it. Required. */
  readonly name?: string | undefined;
  /**
   * The scopes that clients can request, each with a label that users see. To grant a scope, a user
   * needs the permission with the scope's name, or another permission that you set. `openid`,
   * `profile` and `email` are built in. Required.
   */
  readonly scopes?: Readonly<Record<string, ScopeInput | undefined>> | undefined;
  /** The URL of the API that tokens are for (RFC 8707). Default: none. */
  readonly audience?: string | undefined;
  /** Your sign-in page: the name of a route, or a path that begins with `/`. Default: `login`. */
  readonly login_route?: string | undefined;
  /** Whether the plugin adds its endpoints to the application's routes. Default: true. */
  readonly routes?: boolean | undefined;
  /**
   * A function that returns claims about a user, in addition to the claims in the user's profile.
   */
  readonly claims?: ClaimsMapper | undefined;
  /**
   * The directory that contains the signing keys. With the plugin `oauthServer()`, a relative path
   * starts at the application's folder, and the default path is in the storage folder
   * (`STORAGE_DIR`). With `createAuthorizationServer()`, a relative path starts at the working
   * directory of the process. Default: `storage/oauth/keys`.
   */
  readonly key_path?: string | undefined;
  /** How long an access token is valid, in seconds. Default: 3600. */
  readonly access_token_ttl?: number | undefined;
  /** How long a refresh token is valid, in seconds. Default: 2592000. */
  readonly refresh_token_ttl?: number | undefined;
  /** How long an ID token is valid, in seconds. Default: 3600. */
  readonly id_token_ttl?: number | undefined;
  /** How long an authorization code is valid, in seconds. Default: 60. */
  readonly code_ttl?: number | undefined;
  /** How much time a user has to answer on the consent page, in seconds. Default: 600. */
  readonly consent_ttl?: number | undefined;
  /**
   * The languages of the pages: true for all, or a list of language tags (BCP 47). Users who prefer
   * none of these languages see the first one. You can add languages with files (docs/pages.md). If
   * false, the pages are in English. Default: false.
   */
  readonly languages?: boolean | readonly string[] | undefined;
}

/** The settings for audit events. Features add their settings to this interface. */
export interface AuditConfigInput {}

/** A scope in the configuration: either its label, or an object with its settings. */
export type ScopeInput = string | ScopeConfig;

/** The settings of a scope in the configuration. Features add their keys to this interface. */
export interface ScopeConfig {
  /** The text on the consent page that tells the user what the scope allows. Required. */
  readonly label?: string | undefined;
  /**
   * A longer explanation. Users can open it on the consent page and the applications page. Default:
   * none.
   */
  readonly description?: string | undefined;
  /** The permission that a user must have to grant the scope. Default: the scope's own name. */
  readonly permission?: string | undefined;
  /**
   * The claims from `getProfile()` and `oauth_server:claims` that the scope releases in ID tokens
   * and at UserInfo, while the user has the scope's permission. You cannot list claims that the
   * protocol defines, such as `sub`. Default: none.
   */
  readonly claims?: readonly string[] | undefined;
}

/**
 * The schema of a configuration key: a zod 4 schema from any copy of zod. `Input` is the type of
 * the value that you write. `Output` is the type of the value after validation.
 *
 * @example
 * const retention: ConfigSchema<number> = z.int().min(1).default(30);
 */
export interface ConfigSchema<Output = unknown, Input = unknown> {
  /** Data that zod uses internally. Portico reads only the two types. */
  readonly _zod: { readonly output: Output; readonly input: Input };
}
