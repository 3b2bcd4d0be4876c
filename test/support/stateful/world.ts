import { isGood, NOTHING, type Lifetimes, type State } from './grants.ts';

/**
 * The state at one moment according to docs/specification.md: clients, people, questions,
 * authorizations and their tokens, all by name. `grants.ts` has the rules of codes and tokens
 * (AS-5), which the histories use too; the rest is here.
 */
export interface World {
  /**
   * Authorizations, their access tokens, and the time in seconds. Who may sign in and who is
   * revoked is below.
   */
  readonly grants: State;
  readonly about: Readonly<Record<string, About>>;
  /** The scopes that each access token was issued with. */
  readonly scopesOf: Readonly<Record<string, readonly string[]>>;
  /** Tokens that clients have for themselves. */
  readonly own: Readonly<Record<string, OwnToken>>;
  readonly clients: Readonly<Record<string, Client>>;
  readonly people: Readonly<Record<string, Person>>;
  readonly questions: Readonly<Record<string, Question>>;
  /**
   * Uses that took effect and got 503: the process keeps the answer for the same request
   * (AS-18.24).
   */
  readonly kept: readonly Kept[];
}

/** What the codes and tokens of an authorization do not show. */
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
 * How a client authenticates: with a secret, with nothing, with assertions of its own key, with
 * nothing and bound tokens; `registered` is a public one that registered itself.
 */
export const CLIENT_KINDS = ['web', 'spa', 'keyed', 'bound', 'registered', 'robot'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface Client {
  readonly kind: ClientKind;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly revoked: boolean;
  /** Its current secret, and until when the previous one is accepted. */
  readonly secret: number;
  readonly previousUntil: number;
  readonly registered: number;
  /** When it was last used; null if never. */
  readonly used: number | null;
}

export interface Person {
  readonly active: boolean;
  readonly permissions: readonly string[];
  /** How often everything about them was erased: applications then see a new person. */
  readonly erasures: number;
}

/** A consent screen. */
export interface Question {
  readonly client: string;
  readonly person: string;
  readonly scopes: readonly string[];
  readonly expires: number;
  readonly open: boolean;
  /** The answer; absent if there was none, or it was forgotten. */
  readonly answered?: Answered | null;
}

export interface Answered {
  readonly allows: boolean;
  readonly at: number;
  /** The authorization; null for none. */
  readonly family: string | null;
}

export interface Kept {
  readonly node: number;
  /** The whole request. */
  readonly request: string;
  /** The name of the tokens in its answer. */
  readonly gives: string;
  readonly family: string;
  readonly isCode: boolean;
  readonly until: number;
}

/** The configuration of an installation. */
export interface Settings extends Lifetimes {
  /** `consent_ttl`, in seconds. */
  readonly consent: number;
}

/** Every offered scope, in the order of requests. */
export const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write'] as const;
/** The permission that a scope needs; the others need none. */
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

/** The world with one of these changed. */
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

/** The scopes whose permission the person holds (AS-8.7, AS-10.4, AS-12.4). */
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

/** Whether an unused self-registered client has ended (AS-22.7): a use is recorded once a day. */
function lapsed({ kind, used, registered }: Client, at: number): boolean | 'perhaps' {
  if (kind !== 'registered') return false;
  if (used === null) return at >= registered + DAY;
  if (at < used + 90 * DAY) return false;
  return at >= used + 91 * DAY ? true : 'perhaps';
}

/**
 * Whether the client still exists; more than one answer only if a day more or less is up to the
 * server.
 */
export function lives(world: World, name: string): readonly boolean[] {
  const client = found(world.clients, name);
  if (client.revoked) return [false];
  const ended = lapsed(client, now(world));
  return ended === 'perhaps' ? [true, false] : [!ended];
}

/** The scopes of the authorization for which its client is still registered (AS-30.3). */
export function inForce(world: World, family: string): readonly string[] {
  const client = found(world.clients, clientOf(world, family));
  return both(found(world.about, family).scopes, client.scopes);
}

export function clientOf({ grants }: World, family: string): string {
  return found(grants.families, family).client;
}

/** The authorizations as the model of grants takes them, for a question about this one. */
export function grantsFor(world: World, family: string): State {
  const { active } = found(world.people, found(world.about, family).person);
  return { ...world.grants, active, revokedClients: [] };
}

/** What an access token says about its presenter; null if it is invalid. */
export interface Living {
  readonly client: string;
  /** Null for the client itself. */
  readonly person: string | null;
  /** Of the token, as far as the client is registered for them. */
  readonly scopes: readonly string[];
  readonly issued: number;
  readonly expires: number;
}

/** AS-18.3: its authorization, its client and its account decide at every use. */
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
 * Whether an authorization is listed as living (AS-31.1); both if the documents do not say, as for
 * a spent code without tokens.
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
