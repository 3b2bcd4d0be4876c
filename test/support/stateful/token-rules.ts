import {
  isAnsweredAgain,
  step,
  type CODE_FAULTS,
  type REFRESH_FAULTS,
  type State,
} from './grants.ts';
import {
  both,
  changed,
  found,
  grantsFor,
  inForce,
  lives,
  now,
  type Kept,
  type Settings,
  type World,
} from './world.ts';

/**
 * The rules of the documents for requests to the token endpoint (AS-5, AS-9, AS-24, AS-30). Each
 * rule returns every possible response with the next state.
 */

/** The secret that a client sends, if it has one. */
export type SecretSent = 'current' | 'previous' | 'wrong';
/** The key that a client with bound tokens uses for its proof. */
export type Proved = 'own' | 'other' | 'none';

interface FromClient {
  /** The client that sends the request. */
  readonly as: string;
  readonly secret: SecretSent;
}

export interface Exchange extends FromClient {
  readonly kind: 'exchange';
  readonly family: string;
  readonly wrong: (typeof CODE_FAULTS)[number];
  readonly proof: Proved;
}

/** Presents a refresh token to the token endpoint or the revocation endpoint. */
export interface Refresh extends FromClient {
  readonly kind: 'refresh';
  readonly family: string;
  readonly token: string;
  readonly wrong: (typeof REFRESH_FAULTS)[number];
  /** Which wrong token to use. */
  readonly variant: number;
  /** The requested scope. Null leaves it out. */
  readonly scope: readonly string[] | null;
  readonly proof: Proved;
}

export interface Credentials extends FromClient {
  readonly kind: 'credentials';
  readonly scope: readonly string[] | null;
  readonly gives: string;
}

export type TokenRequest = Exchange | Refresh | Credentials;

/**
 * A response. For example, `tokens` has their name (a repeated response to one use has the same
 * name), and `refused` has a status and an error.
 */
export interface Answer {
  readonly is: string;
  readonly [member: string]: unknown;
}

export interface Outcome {
  readonly answer: Answer;
  readonly world: World;
}

export const refused = (status: number, error: string): Answer => ({
  is: 'refused',
  status,
  error,
});
const INVALID_CLIENT = refused(401, 'invalid_client');
const INVALID_GRANT = refused(400, 'invalid_grant');
const INVALID_SCOPE = refused(400, 'invalid_scope');
export const UNAUTHORIZED_CLIENT = refused(400, 'unauthorized_client');

/**
 * Returns the name of the tokens that a use issues. The name after an exchanged code ends with 1.
 * Each refresh adds 1.
 */
export function givenBy(request: TokenRequest): string {
  if (request.kind === 'credentials') return request.gives;
  if (request.kind === 'exchange') return `${request.family}.1`;
  const [family = '', count = ''] = request.token.split('.');
  return `${family}.${Number(count) + 1}`;
}

/** Returns everything that makes a repeated request the same request (decision 9). */
export function sameness(request: TokenRequest): string {
  const { secret: _, ...asked } = request;
  return JSON.stringify(asked);
}

/**
 * Returns whether the client authenticates. Returns both results if it is not certain whether the
 * client has ended (AS-5.8, AS-9.1).
 */
export function isLetIn(world: World, { as, secret }: FromClient): readonly boolean[] {
  const { kind, previousUntil } = found(world.clients, as);
  const hasSecret = kind === 'web' || kind === 'robot';
  const isRight =
    !hasSecret || secret === 'current' || (secret === 'previous' && previousUntil > now(world));
  return isRight ? lives(world, as) : [false];
}

export function tokenRequest(
  world: World,
  request: TokenRequest,
  node: number,
  settings: Settings,
): readonly Outcome[] {
  return isLetIn(world, request).flatMap((isIn) => {
    if (!isIn) return [{ answer: INVALID_CLIENT, world }];
    if (request.kind === 'credentials') return credentials(world, request, settings);
    const kept = world.kept.find(
      (each) => each.node === node && each.request === sameness(request) && each.until > now(world),
    );
    const again = kept === undefined ? null : answeredLate(world, request, kept);
    if (again !== null) return again;
    return request.kind === 'exchange'
      ? exchange(world, request, settings)
      : refresh(world, request, settings);
  });
}

const unchanged = (world: World, ...answers: readonly Answer[]): readonly Outcome[] =>
  answers.map((answer) => ({ answer, world }));

/** AS-5.1, AS-5.2, AS-5.15, AS-5.16, AS-5.17, AS-30.3 to AS-30.5. */
function exchange(world: World, request: Exchange, settings: Settings): readonly Outcome[] {
  const { family, as, wrong, proof } = request;
  const client = found(world.clients, as);
  const mayNot = client.grants.includes('authorization_code') ? [] : [UNAUTHORIZED_CLIENT];
  if (wrong === 'missing') return unchanged(world, refused(400, 'invalid_request'), ...mayNot);
  const { person, erased } = found(world.about, family);
  if (erased) return unchanged(world, INVALID_GRANT, ...mayNot);
  const gives = givenBy(request);
  const asked = { kind: 'exchange', family, as, fault: wrong, name: gives } as const;
  const { state, answer } = step(grantsFor(world, family), asked, settings);
  const after = withGrants(world, state);
  if (answer !== 200) return unchanged(after, INVALID_GRANT, ...mayNot);
  const spent = withGrants(
    world,
    step(grantsFor(world, family), { ...asked, fault: 'verifier' }, settings).state,
  );
  // The code was sent to a redirect URI that the client lost together with the grant.
  if (mayNot.length > 0) return unchanged(spent, INVALID_GRANT, ...mayNot);
  const scopes = inForce(world, family);
  // The specification does not say whether this uses up the code.
  if (scopes.length === 0) return [world, spent].flatMap((each) => unchanged(each, INVALID_SCOPE));
  if (client.kind === 'bound' && proof === 'none') {
    return unchanged(world, refused(400, 'invalid_dpop_proof'));
  }
  return issue(world, state, { family, as, person, gives, scopes }, settings);
}

/** AS-5.4, AS-5.5, AS-5.16 to AS-5.18, AS-9.6, AS-24.4. */
function refresh(world: World, request: Refresh, settings: Settings): readonly Outcome[] {
  const { family, token, as, wrong, scope, proof } = request;
  const client = found(world.clients, as);
  if (!client.grants.includes('refresh_token')) return unchanged(world, UNAUTHORIZED_CLIENT);
  const { person, erased } = found(world.about, family);
  const grants = grantsFor(world, family);
  const { client: owner, current, currentExpires, ended } = found(grants.families, family);
  if (erased || wrong === 'unknown' || owner !== as) return unchanged(world, INVALID_GRANT);
  // A thief who has only the token can neither use it nor end the authorization, because the client
  // must prove a key.
  if (client.kind === 'bound' && proof !== 'own') return unchanged(world, INVALID_GRANT);

  const gives = givenBy(request);
  const asked = { kind: 'refresh', family, token, as, fault: wrong, name: gives } as const;
  const isAgain = isAnsweredAgain(grants, asked);
  const isReplay = !isAgain && (wrong === 'used' || token !== current);
  const { state, answer } = step({ ...grants, active: true }, asked, settings);
  if (isReplay) return unchanged(withGrants(world, state), INVALID_GRANT);

  const all = inForce(world, family);
  const narrowed = scope ?? all;
  const given = isAgain ? both(found(world.scopesOf, gives), all) : narrowed;
  const isSame = narrowed.length === given.length && narrowed.every((each) => given.includes(each));
  const problems: Answer[] = [];
  const isBeyond = narrowed.length === 0 || narrowed.some((each) => !all.includes(each));
  if (isBeyond || !isSame) problems.push(INVALID_SCOPE);
  const isOver = ended || (!isAgain && currentExpires <= now(world));
  if (isOver || !found(world.people, person).active) problems.push(INVALID_GRANT);
  if (problems.length > 0) return unchanged(world, ...problems);
  if (answer !== 200) throw new Error(`The models do not agree about ${JSON.stringify(request)}`);
  if (isAgain) return [{ answer: tokensOf(world, gives, as, given), world: noted(world, as) }];
  return issue(world, state, { family, as, person, gives, scopes: narrowed }, settings);
}

interface Issued {
  readonly family: string;
  readonly as: string;
  readonly person: string;
  readonly gives: string;
  readonly scopes: readonly string[];
}

function issue(
  world: World,
  state: State,
  { as, family, gives, scopes }: Issued,
  settings: Settings,
) {
  const issued = withGrants(world, withoutRefresh(world, state, family, as));
  const after = noted({ ...issued, scopesOf: { ...issued.scopesOf, [gives]: scopes } }, as);
  const { expires } = found(after.grants.accessTokens, gives);
  if (expires - now(world) !== settings.access)
    throw new Error('An access token of another lifetime');
  return [{ answer: tokensOf(after, gives, as, scopes), world: after }];
}

/** Removes the refresh token from the response if the client does not have the grant. */
function withoutRefresh(world: World, state: State, family: string, as: string): State {
  if (found(world.clients, as).grants.includes('refresh_token')) return state;
  const without = {
    ...found(state.families, family),
    current: null,
    currentExpires: 0,
    previous: null,
  };
  return { ...state, families: { ...state.families, [family]: without } };
}

function tokensOf(world: World, name: string, as: string, scopes: readonly string[]): Answer {
  const { family, expires } = found(world.grants.accessTokens, name);
  return {
    is: 'tokens',
    name,
    scope: scopes.join(' '),
    expiresIn: Math.max(0, expires - now(world)),
    type: found(world.clients, as).kind === 'bound' ? 'DPoP' : 'Bearer',
    refreshes: found(world.grants.families, family).current === name,
    identifies: scopes.includes('openid'),
  };
}

/**
 * Answers a use that took effect but whose response was not delivered. The same request now gets
 * the response, but only once (AS-18.24). Returns null if the authorization has ended or was used
 * since. The usual rules then decide.
 */
function answeredLate(
  world: World,
  request: Exchange | Refresh,
  kept: Kept,
): readonly Outcome[] | null {
  const { family, gives, isCode } = kept;
  const { ended, current } = found(world.grants.families, family);
  const { person, erased } = found(world.about, family);
  const { grants } = found(world.clients, request.as);
  const given = { ...world, kept: world.kept.filter((each) => each !== kept) };
  if (erased || ended || (current !== null && current !== gives)) return null;
  const problems: Answer[] = [];
  const grant = isCode ? 'authorization_code' : 'refresh_token';
  if (!grants.includes(grant)) problems.push(UNAUTHORIZED_CLIENT);
  const { scopes } = found(world.clients, request.as);
  const left = both(found(world.scopesOf, gives), scopes);
  const asked = request.kind === 'refresh' ? request.scope : null;
  if (left.length === 0 || (asked ?? []).some((each) => !left.includes(each)))
    problems.push(INVALID_SCOPE);
  if (!found(world.people, person).active) problems.push(INVALID_GRANT);
  if (problems.length > 0) return unchanged(isCode ? given : world, ...problems);
  return [
    { answer: tokensOf(given, gives, request.as, asked ?? left), world: noted(given, request.as) },
  ];
}

/** AS-9.8. */
function credentials(
  world: World,
  { as, scope, gives }: Credentials,
  settings: Settings,
): readonly Outcome[] {
  const { grants, scopes: registered, kind } = found(world.clients, as);
  if (!grants.includes('client_credentials')) return unchanged(world, UNAUTHORIZED_CLIENT);
  const available = registered.filter((each) => each.includes(':'));
  const scopes = scope ?? available;
  if (scopes.length === 0 || scopes.some((each) => !available.includes(each))) {
    return unchanged(world, INVALID_SCOPE);
  }
  const token = { client: as, scopes, expires: now(world) + settings.access, revoked: false };
  const answer = {
    is: 'tokens',
    name: gives,
    scope: scopes.join(' '),
    expiresIn: settings.access,
    type: kind === 'bound' ? 'DPoP' : 'Bearer',
    refreshes: false,
    identifies: false,
  };
  return [{ answer, world: changed(world, 'own', gives, token) }];
}

/** Records the use of a client that registered itself (AS-22.7). */
function noted(world: World, client: string): World {
  return found(world.clients, client).kind === 'registered'
    ? changed(world, 'clients', client, { used: now(world) })
    : world;
}

/**
 * Returns the world with the next state of the model of grants. The world itself stores which
 * people may sign in.
 */
export function withGrants(world: World, state: State): World {
  return { ...world, grants: { ...state, active: true } };
}
