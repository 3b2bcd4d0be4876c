import { isGood, NOTHING, type Lifetimes, type State } from './grants.ts';

/**
 * What there is at one moment, as docs/specification.md tells it: clients, people, questions, authorizations and their tokens, all by
 * names. What becomes of a code and of tokens (AS-5) is `grants.ts`, which the histories are held against, too; here is
 * what is around it.
 */
export interface World {
  /** Authorizations, their access tokens, and the time in seconds. Who may sign in and who is revoked is said below. */
  readonly grants: State;
  readonly about: Readonly<Record<string, About>>;
  /** The scopes that each access token was issued with. */
  readonly scopesOf: Readonly<Record<string, readonly string[]>>;
  /** Tokens that clients have for themselves. */
  readonly own: Readonly<Record<string, OwnToken>>;
  readonly clients: Readonly<Record<string, Client>>;
  readonly people: Readonly<Record<string, Person>>;
  readonly questions: Readonly<Record<string, Question>>;
  /** Uses that took effect and were answered 503: the process keeps the answer for the same request (AS-18.24). */
  readonly kept: readonly Kept[];
}

/** Of an authorization what its codes and tokens do not say. */
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
 * How a client proves itself: by a secret, by nothing, by assertions of its own key, by nothing and with tokens that are bound to a key;
 * `registered` is a public one that registered itself.
 */
export const CLIENT_KINDS = ['web', 'spa', 'keyed', 'bound', 'registered', 'robot'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface Client {
  readonly kind: ClientKind;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly revoked: boolean;
  /** Of the secret: which it is now, and until when the one before is accepted. */
  readonly secret: number;
  readonly previousUntil: number;
  readonly registered: number;
  /** When it was last used; null when it was not. */
  readonly used: number | null;
}

export interface Person {
  readonly active: boolean;
  readonly permissions: readonly string[];
  /** How often everything about them was erased: then they are somebody else to applications. */
  readonly erasures: number;
}

/** A consent screen. */
export interface Question {
  readonly client: string;
  readonly person: string;
  readonly scopes: readonly string[];
  readonly expires: number;
  readonly open: boolean;
  /** What was answered; absent where nothing was, or it was forgotten. */
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
  /** What the request was, all of it. */
  readonly request: string;
  /** What the tokens are called that it was to be answered with. */
  readonly gives: string;
  readonly family: string;
  readonly isCode: boolean;
  readonly until: number;
}

/** What an installation is configured with. */
export interface Settings extends Lifetimes {
  /** `consent_ttl`, in seconds. */
  readonly consent: number;
}

/** Every scope that is offered, in the order in which they are asked for. */
export const SCOPES = ['openid', 'profile', 'email', 'notes:read', 'notes:write'] as const;
/** What a person has to hold for a scope; the others need nothing. */
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

/** Those of the scopes whose permission the person holds (AS-8.7, AS-10.4, AS-12.4). */
export function heldBy({ people }: World, person: string, scopes: readonly string[]): readonly string[] {
  const { permissions } = found(people, person);
  return scopes.filter((scope) => {
    const needed = PERMISSIONS[scope];
    return needed === undefined || permissions.includes(needed);
  });
}

/** Whether a client that registered itself has ended for want of use (AS-22.7): a use is written down once a day. */
function lapsed({ kind, used, registered }: Client, at: number): boolean | 'perhaps' {
  if (kind !== 'registered') return false;
  if (used === null) return at >= registered + DAY;
  if (at < used + 90 * DAY) return false;
  return at >= used + 91 * DAY ? true : 'perhaps';
}

/** Whether there is such a client still; more than one answer only where a day more or less is the server's own matter. */
export function lives(world: World, name: string): readonly boolean[] {
  const client = found(world.clients, name);
  if (client.revoked) return [false];
  const ended = lapsed(client, now(world));
  return ended === 'perhaps' ? [true, false] : [!ended];
}

/** Those of the authorization's scopes that its client is still registered for (AS-30.3). */
export function inForce(world: World, family: string): readonly string[] {
  const client = found(world.clients, clientOf(world, family));
  return both(found(world.about, family).scopes, client.scopes);
}

export function clientOf({ grants }: World, family: string): string {
  return found(grants.families, family).client;
}

/** The authorizations as the model of grants takes them, where it is asked about this one. */
export function grantsFor(world: World, family: string): State {
  const { active } = found(world.people, found(world.about, family).person);
  return { ...world.grants, active, revokedClients: [] };
}

/** What an access token says of whoever presents it; null when it is none. */
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
  if (erased || !lives(world, client).includes(true) || !grants.includes('authorization_code')) return null;
  if (!isGood(grantsFor(world, family), token)) return null;
  const issued = expires - settings.access;
  return { client, person, scopes: both(found(world.scopesOf, token), scopes), issued, expires };
}

/**
 * Whether an authorization is listed as one that lives (AS-31.1); both where it is not said, such as of one whose code was spent and
 * gave nothing.
 */
export function isListed(world: World, family: string): readonly boolean[] {
  const { client, codeSpent, codeExpires, current, currentExpires, ended } = found(
    world.grants.families,
    family,
  );
  const at = now(world);
  const tokens = Object.values(world.grants.accessTokens).filter((each) => each.family === family);
  const { grants } = found(world.clients, client);
  if (ended || found(world.about, family).erased || !grants.includes('authorization_code')) return [false];
  if (!lives(world, client).includes(true)) return [false];
  const refreshes = current !== null && currentExpires > at;
  if (refreshes || (!codeSpent && codeExpires > at)) return [true];
  if (tokens.some(({ expires, revoked }) => expires > at && !revoked)) return [true];
  const isOver = codeExpires <= at && currentExpires <= at && tokens.every(({ expires }) => expires <= at);
  return isOver ? [false] : [true, false];
}
