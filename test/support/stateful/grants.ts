/**
 * The part of the stateful model about codes, tokens and their authorizations (AS-5, AS-9, AS-10).
 * It is a function that computes the next state and the response from a state and one request.
 * `world.ts` contains the rest. `history/checker.ts` uses the function to search for an order of
 * operations. The model removes nothing: an expired value is rejected, whether its row exists or
 * not.
 */

/** Lifetimes in seconds. */
export interface Lifetimes {
  readonly code: number;
  readonly access: number;
  readonly refresh: number;
  /**
   * The setting `refresh_retry_seconds`. If it is missing, a used refresh token is always a replay.
   */
  readonly retry?: number;
}

/**
 * An authorization. Codes, tokens and authorizations have names here. Their values come from the
 * server.
 */
interface Family {
  readonly client: string;
  readonly codeExpires: number;
  readonly codeSpent: boolean;
  /** The current refresh token. All other refresh tokens that were issued are used up. */
  readonly current: string | null;
  readonly currentExpires: number;
  /**
   * The token whose use issued the current one, and until when a client can repeat that use. Null
   * if there is no such token.
   */
  readonly previous: { readonly token: string; readonly until: number } | null;
  readonly ended: boolean;
}

interface AccessToken {
  readonly family: string;
  readonly expires: number;
  readonly revoked: boolean;
}

/** The state at one moment. */
export interface State {
  /** The time in seconds. */
  readonly now: number;
  readonly families: Readonly<Record<string, Family>>;
  readonly accessTokens: Readonly<Record<string, AccessToken>>;
  readonly revokedClients: readonly string[];
  /** Whether the person may sign in. */
  readonly active: boolean;
}

/** The wrong ways to present a code. */
export const CODE_FAULTS = ['none', 'verifier', 'redirect', 'missing', 'unknown'] as const;

/**
 * The wrong refresh tokens. Each is a changed token. An `unknown` one names no authorization. A
 * `used` one names its own authorization, but is not the current token.
 */
export const REFRESH_FAULTS = ['none', 'unknown', 'used'] as const;

/**
 * A request. `as` is the client that sends it. `name` names the tokens in its response. Tokens that
 * an earlier response already contained keep their name.
 */
export type Request =
  | {
      readonly kind: 'exchange';
      readonly family: string;
      readonly as: string;
      readonly fault: (typeof CODE_FAULTS)[number];
      readonly name: string;
    }
  | {
      readonly kind: 'refresh' | 'revoke';
      readonly family: string;
      readonly token: string;
      readonly as: string;
      readonly fault: (typeof REFRESH_FAULTS)[number];
      readonly name: string;
    }
  | { readonly kind: 'revoke access'; readonly token: string; readonly as: string }
  | { readonly kind: 'look'; readonly token: string }
  | { readonly kind: 'revoke client'; readonly client: string };

/** A status, or whether an access token is valid. */
export type Answer = number | 'good' | 'dead';

export interface Outcome {
  readonly state: State;
  readonly answer: Answer;
}

export const NOTHING: State = {
  now: 0,
  families: {},
  accessTokens: {},
  revokedClients: [],
  active: true,
};

/** The person allows access to the client, which creates a code. */
export function allowed(state: State, family: string, client: string, lifetimes: Lifetimes): State {
  const code = { codeExpires: state.now + lifetimes.code, codeSpent: false };
  const refreshState = { current: null, currentExpires: 0, previous: null };
  return withFamily(state, family, { client, ...code, ...refreshState, ended: false });
}

/**
 * The person allows the access again before the client used the code. A new code replaces the first
 * one.
 */
export function allowedAgain(state: State, id: string, lifetimes: Lifetimes): State {
  const codeExpires = state.now + lifetimes.code;
  return withFamily(state, id, { ...found(state.families, id), codeExpires });
}

export function isGood(state: State, token: string): boolean {
  const { family, expires, revoked } = found(state.accessTokens, token);
  const { client, ended } = found(state.families, family);
  return (
    state.active &&
    !revoked &&
    !ended &&
    expires > state.now &&
    !state.revokedClients.includes(client)
  );
}

/** Returns the only possible response to a request, and the next state. */
export function step(state: State, request: Request, lifetimes: Lifetimes): Outcome {
  if ('as' in request && state.revokedClients.includes(request.as)) return { state, answer: 401 };
  switch (request.kind) {
    case 'exchange':
      return exchange(state, request, lifetimes);
    case 'refresh':
      return refresh(state, request, lifetimes);
    case 'revoke': {
      const { client } = found(state.families, request.family);
      const ends = request.fault !== 'unknown' && client === request.as;
      return { state: ends ? ended(state, request.family) : state, answer: 200 };
    }
    case 'revoke access': {
      const token = found(state.accessTokens, request.token);
      if (found(state.families, token.family).client !== request.as) return { state, answer: 200 };
      const accessTokens = { ...state.accessTokens, [request.token]: { ...token, revoked: true } };
      return { state: { ...state, accessTokens }, answer: 200 };
    }
    case 'revoke client': {
      const revokedClients = [...new Set([...state.revokedClients, request.client])].toSorted();
      return { state: { ...state, revokedClients }, answer: 200 };
    }
    case 'look':
      break;
  }
  return { state, answer: isGood(state, request.token) ? 'good' : 'dead' };
}

/** AS-5.1, AS-5.2, AS-5.15, AS-5.16, AS-5.17. */
function exchange(
  state: State,
  request: Request & { kind: 'exchange' },
  lifetimes: Lifetimes,
): Outcome {
  const { family: id, as, fault, name } = request;
  const family = found(state.families, id);
  if (fault === 'missing' || fault === 'unknown') return { state, answer: 400 };
  if (family.codeSpent)
    return { state: family.client === as ? ended(state, id) : state, answer: 400 };
  const spent = withFamily(state, id, { ...family, codeSpent: true });
  const isWrong = fault !== 'none' || family.client !== as || family.codeExpires <= state.now;
  if (isWrong || family.ended || !state.active) return { state: spent, answer: 400 };
  return { state: issued(spent, id, name, lifetimes), answer: 200 };
}

/** A response that no request gets. */
const NEVER: Answer = 0;

/** AS-5.4, AS-5.5, AS-5.16, AS-5.17, AS-5.18. */
function refresh(
  state: State,
  request: Request & { kind: 'refresh' | 'revoke' },
  lifetimes: Lifetimes,
): Outcome {
  const { family: id, token, as, fault, name } = request;
  const family = found(state.families, id);
  if (fault === 'unknown' || family.client !== as) return { state, answer: 400 };
  if (isAnsweredAgain(state, request)) {
    // The response contains the same tokens as before, except an access token that was revoked.
    const { current } = family;
    const isRevoked = current !== null && found(state.accessTokens, current).revoked;
    if (!state.active || isRevoked) return { state, answer: 400 };
    return { state, answer: name === current ? 200 : NEVER };
  }
  if (fault === 'used' || token !== family.current) return { state: ended(state, id), answer: 400 };
  if (family.ended || family.currentExpires <= state.now || !state.active)
    return { state, answer: 400 };
  if (name in state.accessTokens) return { state, answer: NEVER };
  const { retry = 0 } = lifetimes;
  const previous = retry === 0 ? null : { token, until: state.now + retry };
  return { state: issued(state, id, name, lifetimes, previous), answer: 200 };
}

/**
 * Whether a client can still get a repeated response for a used refresh token (AS-5.18). Checks
 * only the time.
 */
export function isAnsweredAgain(
  { families, now }: State,
  {
    family: id,
    token,
    fault,
  }: Pick<Request & { kind: 'refresh' | 'revoke' }, 'family' | 'token' | 'fault'>,
): boolean {
  const { previous, ended: isOver, currentExpires } = found(families, id);
  if (fault !== 'none' || token !== previous?.token || now >= previous.until) return false;
  return !isOver && currentExpires > now;
}

function issued(
  state: State,
  id: string,
  name: string,
  { access, refresh: life }: Lifetimes,
  previous: Family['previous'] = null,
): State {
  const token = { family: id, expires: state.now + access, revoked: false };
  const before = found(state.families, id);
  const family = { ...before, current: name, currentExpires: state.now + life, previous };
  return {
    ...withFamily(state, id, family),
    accessTokens: { ...state.accessTokens, [name]: token },
  };
}

/** Ends a family, because its client, its person or a replay revoked it. */
export function ended(state: State, id: string): State {
  return withFamily(state, id, { ...found(state.families, id), ended: true });
}

function withFamily(state: State, id: string, family: Family): State {
  return { ...state, families: { ...state.families, [id]: family } };
}

function found<T>(all: Readonly<Record<string, T>>, name: string): T {
  const one = all[name];
  if (one === undefined) throw new Error(`There is no ${name}`);
  return one;
}
