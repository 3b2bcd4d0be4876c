import { isYes } from '../host/accounts.ts';
import type { MessageKey } from '../pages/english.ts';
import { ENGLISH_WORDS } from '../pages/words.ts';
import type { PersonReference } from '../person.ts';
import { OAuthError } from '../errors.ts';
import type { CompleteHost } from '../host/host.ts';
import { quotedList } from '../quoting.ts';

/** Every server offers these scopes. Users need no permission for them. */
export const IDENTITY_SCOPES: Readonly<Record<string, string>> = {
  openid: ENGLISH_WORDS.t('scope.openid.label'),
  profile: ENGLISH_WORDS.t('scope.profile.label'),
  email: ENGLISH_WORDS.t('scope.email.label'),
};

/**
 * The scope that requests a refresh token (OpenID Connect Core section 11). Portico accepts and
 * ignores it. The client's grants decide whether it gets refresh tokens.
 */
export const OFFLINE_ACCESS = 'offline_access';

/**
 * Scopes for services, which act without a user's consent. Only clients of an operator can have
 * them.
 */
export const SERVICE_SCOPES: ReadonlySet<string> = new Set(['mcp:service']);

const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** RFC 6749 section 3.3. */
export function isScopeToken(value: string): boolean {
  return SCOPE_TOKEN.test(value);
}

export interface Scope {
  readonly name: string;
  /** Tells the user on the consent page what the scope allows. */
  readonly label: string;
  /** Null if the label is enough. */
  readonly description: string | null;
  /** The permission that the user needs. Null for the identity scopes. */
  readonly permission: string | null;
  /** Claims that the scope releases in addition to the OpenID Connect claims. */
  readonly claims?: readonly string[];
}

export interface ScopeHeading {
  /** The group's name in the data for views. */
  readonly group: string;
  /** The message key of the heading. */
  readonly title: MessageKey;
  holds(name: string): boolean;
}

/** Returns the message key of a scope's label. Language files translate it by this key. */
export const scopeLabel = (name: string): string => `scope.${name}.label`;

export const scopeDescription = (name: string): string => `scope.${name}.description`;

/** Adds the configured texts of scopes to the languages of the server's pages. */
export function getSpeakingOptions({
  languages = false,
  scopes,
}: {
  readonly languages?: boolean | readonly string[] | undefined;
  readonly scopes: ConfiguredScopes;
}) {
  const own: Record<string, string> = {};
  for (const [name, definition] of Object.entries(scopes)) {
    const {
      label,
      description,
    }: { readonly label: string; readonly description?: string | undefined } =
      typeof definition === 'string' ? { label: definition } : definition;
    own[scopeLabel(name)] = label;
    if (description !== undefined) own[scopeDescription(name)] = description;
  }
  return { languages, own };
}

/** Every scope of this server, by name: the identity scopes and the configured ones. */
export type ScopeCatalog = ReadonlyMap<string, Scope>;

/**
 * `oauth_server:scopes`, by scope name. Each value is a label or an object. By default, the
 * permission has the same name as the scope.
 */
export type ConfiguredScopes = Readonly<
  Record<
    string,
    | string
    | {
        readonly label: string;
        readonly description?: string | undefined;
        readonly permission?: string | undefined;
        readonly claims?: readonly string[] | undefined;
      }
  >
>;

export function createScopeCatalog(configured: ConfiguredScopes): ScopeCatalog {
  const catalog = new Map<string, Scope>();
  for (const [name, label] of Object.entries(IDENTITY_SCOPES))
    catalog.set(name, { name, label, description: null, permission: null });
  for (const [name, definition] of Object.entries(configured)) {
    const {
      label,
      description,
      permission = name,
      claims,
    }: Exclude<ConfiguredScopes[string], string> = typeof definition === 'string'
      ? { label: definition }
      : definition;
    catalog.set(name, {
      name,
      label,
      description: description ?? null,
      permission,
      ...(claims === undefined ? {} : { claims }),
    });
  }
  return catalog;
}

/** Keeps the order and removes duplicates. Throws `invalid_scope` for a malformed name. */
function parseScope(value: string): readonly string[] {
  const names = value.split(' ').filter((name) => name !== '');
  const illFormed = names.filter((name) => !isScopeToken(name));
  if (illFormed.length > 0) {
    const detail = `not well formed: ${quotedList(illFormed)}`;
    throw new OAuthError('invalid_scope', 'The scope is not well formed.', detail);
  }
  return [...new Set(names)];
}

/**
 * Returns the requested scopes without `offline_access`. Undefined if nothing else is requested.
 */
function requestedScopes(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const named = parseScope(value);
  const asked = named.filter((name) => name !== OFFLINE_ACCESS);
  return named.length > 0 && asked.length === 0 ? undefined : asked;
}

export interface ScopeChoice {
  readonly available: readonly string[];
  /** The scopes for a request without `scope`. Defaults to all available scopes. */
  readonly omitted?: readonly string[];
  /**
   * This scope replaces scopes that the server has but this client may not get. Without it, no
   * scope is replaced.
   */
  readonly inPlace?: { readonly of: ScopeCatalog; readonly is: string };
  /**
   * Returns true to drop an unavailable scope, and false to refuse the request. By default, no
   * scope is dropped.
   */
  readonly isDropped?: (name: string) => boolean;
  /**
   * The `error_description` for a request without scopes, or with scopes that are not available.
   */
  readonly refusal: string;
  /** Why scopes are not available, for the log. */
  readonly detail: string;
}

/**
 * Throws `invalid_scope` if no scopes remain, or if an unavailable scope is neither replaced nor
 * dropped.
 */
export function requireScopes(scope: string | undefined, choice: ScopeChoice): readonly string[] {
  const { available, omitted = available, inPlace, isDropped, refusal, detail } = choice;
  const scopes = requestedScopes(scope) ?? omitted;
  const beyond = scopes.filter((name) => !available.includes(name));
  if (scopes.length > 0 && beyond.length === 0) return scopes;
  if (inPlace !== undefined && beyond.length > 0 && beyond.every((name) => inPlace.of.has(name))) {
    return [...new Set(scopes.map((name) => (available.includes(name) ? name : inPlace.is)))];
  }
  const remaining = scopes.filter((name) => available.includes(name));
  if (remaining.length > 0 && isDropped !== undefined && beyond.every(isDropped)) return remaining;
  const reason =
    beyond.length === 0 ? 'no scope was requested' : `${detail}: ${quotedList(beyond)}`;
  throw new OAuthError('invalid_scope', refusal, reason);
}

/**
 * Returns the scopes that metadata lists. Leaves out service scopes if the server accepts
 * unverified clients.
 */
export function listedScopes(
  names: readonly string[],
  admitsUnverified: boolean,
): readonly string[] {
  return admitsUnverified ? names.filter((name) => !SERVICE_SCOPES.has(name)) : names;
}

export function formatScope(names: readonly string[]): string {
  return names.join(' ');
}

/** Keeps the order of the first list. */
export function intersectScopes(
  names: readonly string[],
  allowed: readonly string[],
): readonly string[] {
  return names.filter((name) => allowed.includes(name));
}

/** Returns the granted scopes that the client and the server still have. */
export function scopesInForce(
  granted: readonly string[],
  registered: readonly string[],
  catalog: ScopeCatalog,
): readonly string[] {
  return granted.filter((name) => registered.includes(name) && catalog.has(name));
}

/**
 * Returns the scopes that the server offers and the person may use now. Some scopes need a
 * permission.
 */
export async function scopesHeldBy(
  host: CompleteHost,
  catalog: ScopeCatalog,
  names: readonly string[],
  person: PersonReference,
): Promise<readonly string[]> {
  const offered: string[] = [];
  const asked: Asked[] = [];
  for (const name of names) {
    const scope = catalog.get(name);
    if (scope === undefined) continue;
    offered.push(name);
    if (scope.permission !== null) asked.push({ name, permission: scope.permission });
  }
  const holds = async ({ permission }: Asked) => host.holdsPermission(person, permission);
  const [only] = asked;
  const held =
    only !== undefined && asked.length === 1
      ? [await host.holdsPermission(person, only.permission)]
      : await Promise.all(asked.map(holds));
  const denied = asked.filter((_, index) => !isYes(held[index])).map(({ name }) => name);
  return denied.length === 0 ? offered : offered.filter((name) => !denied.includes(name));
}

interface Asked {
  readonly name: string;
  readonly permission: string;
}
