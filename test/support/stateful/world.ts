import { isGood, NOTHING, type Lifetimes, type State } from './grants.ts';

/**
 * The state at one moment, as docs/specification.md describes it: clients, people, questions,
 * authorizations and their tokens. All of them have names. `grants.ts` contains the rules for codes
 * and tokens (AS-5), which the histories also use. Everything else is here.
 */
export interface World {
  /**
   * Authorizations, their access tokens, and the time in seconds. The members below store which
   * people may sign in and which clients are revoked.
   */
  readonly grants: State;
  readonly about: Readonly<Record<string, About>>;
  /** The scopes with which each access token was issued. */
  readonly scopesOf: Readonly<Record<string, readonly string[]>>;
  /** The tokens that clients have for themselves. */
  readonly own: Readonly<Record<string, OwnToken>>;
  readonly clients: Readonly<Record<string, Client>>;
  readonly people: Readonly<Record<string, Person>>;
  readonly questions: Readonly<Record<string, Question>>;
  /**
   * Uses that took effect but got 503. The process keeps the response for the same request
   * (AS-18.24).
   */
  readonly kept: readonly Kept[];
}

/** The facts about an authorization that its codes and tokens do not show. */
export interface About {
  readonly person: string;
  readonly scopes: readonly string[];
  readonly erased: boolean;
}

export interface OwnToken {
  readonly client: string;
  readonly scopes: readonly string[];
  readonly expires: number;
  readonly revoked: boolean;
}

/**
 * The kinds of clients. They authenticate in these ways:
 * - `web` and `robot`: with a secret
 * - `spa`: not at all
 * - `keyed`: with assertions that its key signs
 * - `bound`: not at all, and its tokens are bound
 * - `registered`: not at all, and it registered itself
 */
export const CLIENT_KINDS = ['web', 'spa', 'keyed', 'bound', 'registered', 'robot'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface Client {
  readonly kind: ClientKind;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly revoked: boolean;
  /** The number of the current secret, and until when the previous one is accepted. */
  readonly secret: number;
  readonly previousUntil: number;
  readonly registered: number;
  /** When the client was last used. Null if it never was. */
  readonly used: number | null;
}

export interface Person {
  readonly active: boolean;
  readonly permissions: readonly string[];
  /** How many times the person was erased. After an erasure, applications see a new person. */
  readonly erasures: number;
}

/** A consent screen. */
export interface Question {
  readonly client: string;
  readonly person: string;
  readonly scopes: readonly string[];
  readonly expires: number;
  readonly open: boolean;
  /** The answer. Missing if there was none, or if the model has forgotten it. */
  readonly answered?: Answered | null;
}

export interface Answered {
  readonly allows: boolean;
  readonly at: number;
  /** The authorization, or null without an authorization. */
  readonly family: string | null;
}

export interface Kept {
  readonly node: number;
  /** The whole request as a text. */
  readonly request: string;
  /** The name of the tokens in its response. */
  readonly gives: string;
  readonly family: string;
  readonly isCode: boolean;
  readonly until: number;
}

/** The configuration of an installation. */
export interface Settings extends Lifetimes {
  /** The setting `consent_ttl`, in seconds. */
  readonly consent: number;
}

/** All offered scopes, in the order in which they are requested. */
export const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write'] as const;
/** The permission that a scope needs. A scope that is missing here needs none. */
export const PERMISSIONS: Readonly<Record<string, string>> = {
  'notes:read': 'notes:read',
  'notes:write': 'notes.edit',
};
export const PERSONAL: readonly string[] = ['openid', 'profile', 'email'];

export const DAY = 86_400;

export const EMPTY: World = {
  grants: NOTHING,
  about: {},
  scopesOf: {},
  own: {},
  clients: {},
  people: {},
  questions: {},
  kept: [],
};

export const now = ({ grants }: World) => grants.now;

export function found<T>(all: Readonly<Record<string, T>>, name: string): T {
  const one = all[name];
  if (one === undefined) throw new Error(`There is no ${name}`);
  return one;
}

/** Returns the world with a change to one of these parts. */
export function changed<Part extends 'clients' | 'people' | 'questions' | 'own' | 'about'>(
  world: World,
  part: Part,
  name: string,
  by: Partial<World[Part][string]>,
): World {
  return { ...world, [part]: { ...world[part], [name]: { ...world[part][name], ...by } } };
}

export function both(some: readonly string[], others: readonly string[]): readonly string[] {
  return some.filter((each) => others.includes(each));
}

/** Returns the scopes for which the person has the permission (AS-8.7, AS-10.4, AS-12.4). */
export function heldBy(
  { people }: World,
  person: string,
  scopes: readonly string[],
): readonly string[] {
  const { permissions } = found(people, person);
  return scopes.filter((scope) => {
    const needed = PERMISSIONS[scope];
    return needed === undefined || permissions.includes(needed);
  });
}

/**
 * Whether an unused client that registered itself has ended (AS-22.7). The result is `perhaps` near
 * the limit, because the server records a use only once a day.
 */
function lapsed({ kind, used, registered }: Client, at: number): boolean | 'perhaps' {
  if (kind !== 'registered') return false;
  if (used === null) return at >= registered + DAY;
  if (at < used + 90 * DAY) return false;
  return at >= used + 91 * DAY ? true : 'perhaps';
}

/**
 * Returns whether the client still exists. Returns both results if the server can choose, because
 * it may remove a client a day earlier or later.
 */
export function lives(world: World, name: string): readonly boolean[] {
  const client = found(world.clients, name);
  if (client.revoked) return [false];
  const ended = lapsed(client, now(world));
  return ended === 'perhaps' ? [true, false] : [!ended];
}

/** Returns the scopes of the authorization for which its client is still registered (AS-30.3). */
export function inForce(world: World, family: string): readonly string[] {
  const client = found(world.clients, clientOf(world, family));
  return both(found(world.about, family).scopes, client.scopes);
}

export function clientOf({ grants }: World, family: string): string {
  return found(grants.families, family).client;
}

/**
 * Returns the authorizations as the model of grants needs them for a request about this
 * authorization.
 */
export function grantsFor(world: World, family: string): State {
  const { active } = found(world.people, found(world.about, family).person);
  return { ...world.grants, active, revokedClients: [] };
}

/** What an access token reveals about its holder. */
export interface Living {
  readonly client: string;
  /** The person. Null for a token of the client itself. */
  readonly person: string | null;
  /** The token's scopes for which the client is registered. */
  readonly scopes: readonly string[];
  readonly issued: number;
  readonly expires: number;
}

/**
 * Returns what a token reveals, or null if it is invalid. At every use, its authorization, its
 * client and its account decide whether it is valid (AS-18.3).
 */
export function livingToken(world: World, token: string, settings: Settings): Living | null {
  const own = world.own[token];
  const at = now(world);
  if (own !== undefined) {
    const { client, scopes, expires, revoked } = own;
    const { grants, scopes: registered } = found(world.clients, client);
    if (revoked || expires <= at || !lives(world, client).includes(true)) return null;
    if (!grants.includes('client_credentials')) return null;
    const issued = expires - settings.access;
    return { client, person: null, scopes: both(scopes, registered), issued, expires };
  }
  const { family, expires } = found(world.grants.accessTokens, token);
  const { person, erased } = found(world.about, family);
  const client = clientOf(world, family);
  const { grants, scopes } = found(world.clients, client);
  if (erased || !lives(world, client).includes(true) || !grants.includes('authorization_code'))
    return null;
  if (!isGood(grantsFor(world, family), token)) return null;
  const issued = expires - settings.access;
  return { client, person, scopes: both(found(world.scopesOf, token), scopes), issued, expires };
}

/**
 * Returns whether the server lists an authorization as active (AS-31.1). Returns both results if
 * the specification does not say, for example for a used code without tokens.
 */
export function isListed(world: World, family: string): readonly boolean[] {
  const { client, codeSpent, codeExpires, current, currentExpires, ended } = found(
    world.grants.families,
    family,
  );
  const at = now(world);
  const tokens = Object.values(world.grants.accessTokens).filter((each) => each.family === family);
  const { grants } = found(world.clients, client);
  if (ended || found(world.about, family).erased || !grants.includes('authorization_code'))
    return [false];
  if (!lives(world, client).includes(true)) return [false];
  const refreshes = current !== null && currentExpires > at;
  if (refreshes || (!codeSpent && codeExpires > at)) return [true];
  if (tokens.some(({ expires, revoked }) => expires > at && !revoked)) return [true];
  const isOver =
    codeExpires <= at && currentExpires <= at && tokens.every(({ expires }) => expires <= at);
  return isOver ? [false] : [true, false];
}
