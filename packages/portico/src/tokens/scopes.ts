import { isYes } from '../host/accounts.ts';
import type { MessageKey } from '../pages/english.ts';
import { ENGLISH_WORDS } from '../pages/words.ts';
import type { PersonReference } from '../person.ts';
import { OAuthError } from '../errors.ts';
import type { CompleteHost } from '../host/host.ts';
import { quotedList } from '../quoting.ts';

/**
 * Built-in scopes with their English labels. Every server offers them, and users need no permission
 * for them.
 */
export const IDENTITY_SCOPES: Readonly<Record<string, string>> = {
  openid: ENGLISH_WORDS.t('scope.openid.label'),
  profile: ENGLISH_WORDS.t('scope.profile.label'),
  email: ENGLISH_WORDS.t('scope.email.label'),
};

/**
 * The scope that requests a refresh token (OpenID Connect Core section 11). Portico always accepts
 * and ignores it. The client's registered grants decide whether the client receives refresh tokens.
 */
export const OFFLINE_ACCESS = 'offline_access';

/**
 * Scopes for services, which act without a user's consent. Only clients that an operator registered
 * can have these scopes.
 */
export const SERVICE_SCOPES: ReadonlySet<string> = new Set(['mcp:service']);

const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Returns whether the string is a scope token (RFC 6749 section 3.3). */
export function isScopeToken(value: string): boolean {
  return SCOPE_TOKEN.test(value);
}

/** A scope that this server offers. */
export interface Scope {
  readonly name: string;
  /** The label. It tells the user on the consent page what the scope allows. */
  readonly label: string;
  /** A longer explanation for the consent page. Null if the label is enough. */
  readonly description: string | null;
  /** The permission that the user needs for this scope. Null for the identity scopes. */
  readonly permission: string | null;
  /**
   * Claims that the scope releases in addition to the OpenID Connect claims. Missing if there are
   * none.
   */
  readonly claims?: readonly string[];
}

/** A heading in a list of scopes. */
export interface ScopeHeading {
  /** The group's name in the data for views. */
  readonly group: string;
  /** The message key of the heading's text. */
  readonly title: MessageKey;
  /** Returns whether the scope is listed under this heading. */
  holds(name: string): boolean;
}

/**
 * Returns the message key of a scope's label. To translate the label, use this key in your language
 * files.
 */
export const scopeLabel = (name: string): string => `scope.${name}.label`;

/** Returns the message key of a scope's explanation. */
export const scopeDescription = (name: string): string => `scope.${name}.description`;

/** Returns the language settings of the server's pages, with the configured texts of scopes. */
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

/** Every scope of this server, by name: the identity scopes and the configured scopes. */
export type ScopeCatalog = ReadonlyMap<string, Scope>;

/**
 * `oauth_server:scopes`, by scope name. Each value is a label or an object with settings. By
 * default, the permission has the same name as the scope.
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

/**
 * Splits a `scope` value. Keeps the order and removes duplicates. Throws `invalid_scope` for a
 * malformed name.
 */
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
 * Returns the requested scopes without `offline_access`. Returns undefined if `scope` is missing or
 * contains only `offline_access`.
 */
function requestedScopes(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const named = parseScope(value);
  const asked = named.filter((name) => name !== OFFLINE_ACCESS);
  return named.length > 0 && asked.length === 0 ? undefined : asked;
}

export interface ScopeChoice {
  /** The scopes that the client may request. */
  readonly available: readonly string[];
  /**
   * The scopes that are granted if the request has no `scope`. Defaults to all available scopes.
   */
  readonly omitted?: readonly string[];
  /**
   * The scope that this client receives instead of scopes that the server offers but this client
   * may not have. If it is missing, no scope is replaced.
   */
  readonly inPlace?: { readonly of: ScopeCatalog; readonly is: string };
  /**
   * Returns whether to drop an unavailable scope. If false, the request is refused. By default, no
   * scope is dropped.
   */
  readonly isDropped?: (name: string) => boolean;
  /**
   * The `error_description` if the request contains no scopes, or scopes that are not available.
   */
  readonly refusal: string;
  /** The reason why scopes are not available, for the log. */
  readonly detail: string;
}

/**
 * Returns the scopes that the parameter `scope` requests. Throws `invalid_scope` if no scopes
 * remain, or if an unavailable scope is neither replaced nor dropped.
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
 * Returns the scopes that metadata lists. If the server accepts clients that no operator
 * registered, leaves out service scopes.
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

/** Returns the names that are in both lists, in the order of the first list. */
export function intersectScopes(
  names: readonly string[],
  allowed: readonly string[],
): readonly string[] {
  return names.filter((name) => allowed.includes(name));
}

/**
 * Returns the granted scopes that the client is still registered for and that the server still
 * offers.
 */
export function scopesInForce(
  granted: readonly string[],
  registered: readonly string[],
  catalog: ScopeCatalog,
): readonly string[] {
  return granted.filter((name) => registered.includes(name) && catalog.has(name));
}

/**
 * Returns the scopes that the server offers and the person may use. A scope that needs a permission
 * is included only if the person has the permission now.
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

/** A requested scope that needs a permission. */
interface Asked {
  readonly name: string;
  readonly permission: string;
}
