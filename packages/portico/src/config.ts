import path from 'node:path';
import { z } from 'zod';
import { brandingSchema, type BrandingInput } from './defaults/branding/branding.ts';
import { LONGEST_LIFETIME } from './contracts/lifetimes.ts';
import { isHostPattern, type DocumentHosts } from './client-documents/client-urls.ts';
import { canonicalTag } from './words/language-ranges.ts';
import { basePathProblems } from './http/base-path.ts';
import { claimNameProblem, type ClaimsMapper } from './tokens/claims.ts';
import { SCOPE_GROUPS, type ScopeGroup } from './tokens/scope-groups.ts';
import { IDENTITY_SCOPES, isScopeToken, OFFLINE_ACCESS } from './tokens/scopes.ts';

const required = (what: string, hint: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing; ${hint}` : `must be ${what}; ${hint}`,
});

const seconds = z
  .int({ error: 'must be a whole number of seconds' })
  .min(1, 'must be at least 1 second')
  .max(LONGEST_LIFETIME, `must be at most ${LONGEST_LIFETIME} seconds, a century`);

/** In days. */
const LONGEST_RETENTION = 36_525;

/** About a second of a processor core. */
const MOST_ITERATIONS = 4_000_000;
/** As many as are kept that nobody has used. */
const MOST_REGISTRATIONS = 10_000;

/** A text that says something. */
export const nonEmptyText = (what: string, hint: string) =>
  z.string(required(what, hint)).refine((text) => text.trim() !== '', `is empty; ${hint}`);

/** What a scope releases of the person. Each problem is one of the list or a name, and none of the scope as a whole. */
const claims = z
  .custom<readonly string[]>(() => true)
  .superRefine((value: unknown, context) => {
    if (!Array.isArray(value)) {
      const message = "must be a list of claims, for example ['roles', 'tenant_id']";
      return context.addIssue({ code: 'custom', message });
    }
    for (const [index, name] of value.entries()) {
      const problem = typeof name === 'string' ? claimNameProblem(name) : 'must be the name of a claim';
      if (problem !== null) context.addIssue({ code: 'custom', message: problem, path: [index] });
    }
  });

/** A problem of its own, and none of the scope as a whole. */
const scopeGroup = z
  .custom<ScopeGroup>(() => true)
  .superRefine((value: unknown, context) => {
    if (SCOPE_GROUPS.some((group) => group === value)) return;
    context.addIssue({ code: 'custom', message: 'must be identity, read or change' });
  });

const scopeShape = {
  label: nonEmptyText('a label', 'say what it allows, in words for the person who is asked'),
  description: nonEmptyText('a text', 'explain what it allows, or leave it out').optional(),
  group: scopeGroup.optional(),
  permission: nonEmptyText('a permission', 'name the permission a person must hold').optional(),
  claims: claims.optional(),
};

/** A scope that is configured as an object, validated. */
export interface ScopeSettings extends z.output<z.ZodObject<typeof scopeShape>> {}

/** `more` are the keys of features. */
function scopeDefinition(more: z.ZodRawShape): z.ZodType<string | ScopeSettings, ScopeInput> {
  const settings = z.strictObject({ ...scopeShape, ...more }) as unknown as z.ZodType<
    ScopeSettings,
    ScopeConfig
  >;
  return z.union(
    [nonEmptyText('a label', 'say what it allows, in words for the person who is asked'), settings],
    { error: 'must be a label, or an object { label, permission }' },
  );
}

const scopesHint = "map each scope to a label, for example { 'notes:read': 'Read your notes' }";

const scopeName = z
  .string()
  .refine(isScopeToken, 'is not a scope name (RFC 6749 section 3.3)')
  .refine(
    (name) => name !== OFFLINE_ACCESS && !Object.hasOwn(IDENTITY_SCOPES, name),
    'is built in and needs no configuring; remove it',
  );

/** `oauth_server:scopes`; `more` are the keys of features. */
export function scopesSchema(more: z.ZodRawShape) {
  return z.record(scopeName, scopeDefinition(more), required('a map of scope names', scopesHint));
}

const audience = z
  .string({ error: 'must be the URL of the API that tokens are for, or empty' })
  .refine((value) => value === '' || isAbsoluteUri(value), 'must be an absolute URL without a fragment');

function isAbsoluteUri(value: string): boolean {
  // RFC 8707 section 2: an absolute URI without a fragment.
  return URL.canParse(value) && !value.includes('#') && /^https?:\/\//i.test(value);
}

const hosts = z
  .array(
    z
      .string({ error: 'must be the name of a host' })
      .refine(
        isHostPattern,
        'is no host; write example.com, or *.example.com for all below it, in lower case',
      ),
    { error: "must be a list of hosts, for example ['example.com', '*.example.org']" },
  )
  .optional();

const documents = z.union([z.boolean(), z.strictObject({ allowed_hosts: hosts, denied_hosts: hosts })], {
  error(issue) {
    if (typeof issue.input !== 'object') return 'must be true, false or { allowed_hosts, denied_hosts }';
    const [, ofObject = []] = issue.errors;
    return ofObject.map(({ path, message }) => [...path, message].join(': ')).join('; ');
  },
});

const healthPath = z.union([
  z.literal(false),
  z.string().superRefine((path, context) => {
    const problem = healthPathProblem(path);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  }),
]);

/** A path of its own, that is written in one way alone; the empty one would be the whole application. */
function healthPathProblem(path: string): string | null {
  if (path === '') return 'must not be empty; write false to switch it off';
  if (/^\/oauth(?:\/|$)/.test(path)) return 'must not lie in /oauth, where the other endpoints are';
  return basePathProblems(path)[0] ?? null;
}

const health = z.union(
  [
    z.boolean(),
    z
      .strictObject({ live: healthPath.optional(), ready: healthPath.optional() })
      .refine(
        ({ live = '/health/live', ready = '/health/ready' }) => live === false || live !== ready,
        'live and ready must be two paths',
      ),
  ],
  {
    error(issue) {
      if (typeof issue.input !== 'object') return 'must be true, false or { live, ready }';
      const [, ofObject = []] = issue.errors;
      return ofObject.map(({ path, message }) => [...path, message].join(': ')).join('; ');
    },
  },
);

const languages = z.union(
  [
    z.boolean(),
    z
      .array(
        z
          .string()
          .refine((tag) => canonicalTag(tag) !== null, 'is no language tag (BCP 47), such as de or pt-BR'),
      )
      .min(1, 'must name a language; write false for English alone'),
  ],
  {
    error(issue) {
      const [, ofList = []] = Array.isArray(issue.input) ? issue.errors : [];
      if (ofList.length === 0) return "must be true, false or a list of languages such as ['en', 'de']";
      return ofList.map(({ path: place, message }) => [...place, message].join(': ')).join('; ');
    },
  },
);

const audit = z.strictObject(
  {
    keep: z.boolean({ error: 'must be true or false' }).optional(),
    retention_days: z
      .int({ error: 'must be a whole number of days' })
      .min(1, 'must be at least 1 day')
      .max(LONGEST_RETENTION, `must be at most ${LONGEST_RETENTION} days, a century`)
      .optional(),
    stream: z
      .string({ error: 'must be - or the absolute path of a file' })
      .refine((to) => to === '-' || path.isAbsolute(to), 'must be - or the absolute path of a file')
      .optional(),
  },
  { error: 'must be an object { keep, retention_days, stream }' },
);

/** The keys of the section `oauth_server` that the core reads, with their defaults. Times are in seconds. */
export const coreShape = {
  name: nonEmptyText('a display name', 'set the name that people know your application by'),
  scopes: scopesSchema({}),
  audience: audience.default(''),
  login_route: nonEmptyText('a route name or a path', 'name the route of your sign-in page').default('login'),
  routes: z.boolean({ error: 'must be true or false' }).default(true),
  challenge: z.boolean({ error: 'must be true or false' }).default(false),
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
  client_id_metadata_documents: documents.optional(),
  health: health.optional(),
  private_key_jwt: z.boolean({ error: 'must be true or false' }).optional(),
  profile: z.literal('fapi2', { error: 'must be fapi2, or left out' }).optional(),
  imported_pbkdf2_iterations: z
    .int({ error: 'must be a whole number of iterations' })
    .min(0, 'must be at least 0, which takes no such hash')
    .max(MOST_ITERATIONS, `must be at most ${MOST_ITERATIONS}`)
    .optional(),
  audit: audit.optional(),
  languages: languages.optional(),
  registration: z
    .enum(['off', 'open', 'initial_access_token'], { error: 'must be off, open or initial_access_token' })
    .optional(),
  registrations_per_hour: z
    .int({ error: 'must be a whole number of clients' })
    .min(1, 'must be at least 1 client')
    .max(MOST_REGISTRATIONS, `must be at most ${MOST_REGISTRATIONS} clients`)
    .optional(),
  branding: brandingSchema.optional(),
};

/** The validated section `oauth_server`; a feature adds its keys. */
export interface OAuthServerConfig extends z.output<z.ZodObject<typeof coreShape>> {}

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
  /**
   * Whether what `token()` refuses says how a token is obtained: `resource_metadata` (RFC 9728) and `scope` in `WWW-Authenticate`. The
   * metadata of `oauth_server:audience`, which is needed, is published then, and an authorization also contains what its person has allowed
   * its client before; false.
   */
  readonly challenge?: boolean | undefined;
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
  /**
   * Whether a client may be the `https` URL of a document that says what it is (draft-ietf-oauth-client-id-metadata-document-02), from
   * any host or from some; false.
   */
  readonly client_id_metadata_documents?: boolean | DocumentHosts | undefined;
  /**
   * Where probes ask whether the process lives and whether it is ready, below `base_path`: `{ live: '/health/live', ready: '/health/ready' }`, each
   * of which may be another path, or false; false for neither. In an application of the kit these two, where it has no routes of its own
   * there; in another one none, unless it is set: true for these two.
   */
  readonly health?: boolean | HealthPathsInput | undefined;
  /**
   * Whether a client may authenticate by assertions that it signs with a key of its own (`private_key_jwt`, RFC 7523), as its registration
   * or its document says; false.
   */
  readonly private_key_jwt?: boolean | undefined;
  /**
   * `fapi2`: every client is held to the FAPI 2.0 Security Profile, and what that demands is switched on, and cannot be switched off; none,
   * and a client may be held to it by itself (`oauth:client:create --profile fapi2`).
   */
  readonly profile?: 'fapi2' | undefined;
  /** What becomes of audit events beside that the host is told; nothing. */
  readonly audit?: AuditConfigInput | undefined;
  /**
   * How many iterations of PBKDF2-HMAC-SHA256 the hash of an imported client secret may have (`oauth:client:import`): every secret that this
   * process has not seen yet costs as many, whoever sends it, so that the time tells nothing; 0, and none has any.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
  /**
   * The languages of the pages for people: true for all that there are, or their tags (BCP 47), the first for whoever asks for none of them. An
   * application adds languages by files (docs/pages.md). Without it, English alone; false.
   */
  readonly languages?: boolean | readonly string[] | undefined;
  /**
   * Whether clients may register themselves (RFC 7591, RFC 7592): `open` for anybody, as a public client; `initial_access_token` for
   * whoever an operator gave one (`oauth:initial-access-token:create`); or `off`, which it is.
   */
  readonly registration?: 'off' | 'open' | 'initial_access_token' | undefined;
  /**
   * How many clients register from one network (an IPv4 address, or a /64 of IPv6) within an hour without an initial access token. Assistants
   * that run on servers of their vendor all register from a few addresses there; 60.
   */
  readonly registrations_per_hour?: number | undefined;
  /** How the pages look, where the kit's own section `branding` does not say it; as Portico has it. Files are absolute without the kit. */
  readonly branding?: BrandingInput | undefined;
}

/** Paths for probes, below `base_path`. */
export interface HealthPathsInput {
  /** Whether the process answers at all; `/health/live`. */
  readonly live?: string | false | undefined;
  /** Whether requests should be sent to it; `/health/ready`. */
  readonly ready?: string | false | undefined;
}

/** What becomes of audit events (`AuditEvent`), each before the request is answered. */
export interface AuditConfigInput {
  /** Whether they are kept in the table `oauth_audit`, for `oauth:audit`; false. */
  readonly keep?: boolean | undefined;
  /** After how many days those that were kept are removed, by `oauth:prune` and now and then while serving; never. */
  readonly retention_days?: number | undefined;
  /** Where each is written as one line of JSON: `-` for standard output, or the absolute path of a file; nowhere. */
  readonly stream?: string | undefined;
}

/** A scope as it is configured: what it allows, in words for the person who is asked; with the permission it needs. */
export type ScopeInput = string | ScopeConfig;

/** The same as an object; a feature adds its keys. */
export interface ScopeConfig {
  /** What it allows, in words for the person who is asked. Needed. */
  readonly label?: string | undefined;
  /** A longer explanation, which people open on the pages of consent and applications; none. */
  readonly description?: string | undefined;
  /**
   * Beside which scopes it is shown: those that say who the person is, those that look at something, those that change something. Guessed
   * from the scope's name: one with `read`, `view` and the like looks at something, any other changes something.
   */
  readonly group?: 'identity' | 'read' | 'change' | undefined;
  /** The permission that a person must hold; the scope's own name. */
  readonly permission?: string | undefined;
  /**
   * The claims of `getProfile()` and `oauth_server:claims` that it releases, in ID tokens and at UserInfo, for as long as the person holds
   * its permission; none. Not those that the protocol itself needs, such as `sub`.
   */
  readonly claims?: readonly string[] | undefined;
}

/** Whether clients may come that no operator registered: by registering themselves, or as documents. */
export function admitsUnverified({
  registration = 'off',
  client_id_metadata_documents: documents = false,
}: Pick<OAuthServerConfig, 'registration' | 'client_id_metadata_documents'>): boolean {
  return registration !== 'off' || documents !== false;
}
