import { allowed, allowedAgain, ended, step, type REFRESH_FAULTS } from './grants.ts';
import {
  grantsFor,
  heldBy,
  isListed,
  both,
  changed,
  clientOf,
  found,
  lives,
  livingToken,
  now,
  PERSONAL,
  type Client,
  type Question,
  type Settings,
  type World,
} from './world.ts';
import {
  isLetIn,
  refused,
  UNAUTHORIZED_CLIENT,
  withGrants,
  type Answer,
  type Outcome,
  type SecretSent,
} from './token-rules.ts';

/**
 * The rules of the documents for all requests except those for tokens. Each rule returns every
 * possible response with the next state.
 */

/** Presents a value to the revocation endpoint (RFC 7009). */
export interface Revocation {
  readonly kind: 'revoke';
  readonly what: 'refresh' | 'access' | 'code' | 'own';
  /** The authorization, or the name of a client's own token. */
  readonly family: string;
  readonly token: string;
  readonly as: string;
  readonly secret: SecretSent;
  readonly wrong: (typeof REFRESH_FAULTS)[number];
  readonly variant: number;
}

export interface LookUp {
  readonly kind: 'introspect' | 'userinfo' | 'api';
  readonly token: string;
  /** The client that introspects. Null for the resource server, which is allowed to. */
  readonly as: string | null;
  /** Whether a bound token is presented without a proof. */
  readonly asBearer: boolean;
}

export interface Ask {
  readonly kind: 'ask';
  readonly question: string;
  readonly client: string;
  readonly person: string;
  readonly scope: readonly string[];
}

export interface Reply {
  readonly kind: 'reply';
  readonly question: string;
  readonly allows: boolean;
  /** The name of the authorization that this may create. */
  readonly family: string;
}

/** Actions of an operator or a person. */
export type Deed =
  | { readonly kind: 'register'; readonly client: string; readonly as: Client['kind'] }
  | { readonly kind: 'narrow' | 'widen'; readonly client: string; readonly scope: string }
  | {
      readonly kind: 'no refresh' | 'refresh again' | 'robot' | 'no robot';
      readonly client: string;
    }
  | { readonly kind: 'rotate secret'; readonly client: string; readonly overlap: number }
  | { readonly kind: 'revoke client'; readonly client: string }
  | { readonly kind: 'revoke authorization'; readonly family: string }
  | {
      readonly kind: 'revoke person' | 'erase person' | 'suspend' | 'restore';
      readonly person: string;
    }
  | { readonly kind: 'give' | 'take'; readonly person: string; readonly permission: string }
  | { readonly kind: 'take back'; readonly person: string; readonly client: string }
  | { readonly kind: 'list'; readonly client: string }
  | { readonly kind: 'prune' | 'rotate keys' };

const DEEDS: Readonly<Record<Deed['kind'], true>> = {
  register: true,
  narrow: true,
  widen: true,
  'no refresh': true,
  'refresh again': true,
  robot: true,
  'no robot': true,
  'rotate secret': true,
  'revoke client': true,
  'revoke authorization': true,
  'revoke person': true,
  'erase person': true,
  suspend: true,
  restore: true,
  give: true,
  take: true,
  'take back': true,
  list: true,
  prune: true,
  'rotate keys': true,
};

export const isKindOfDeed = (kind: string): kind is Deed['kind'] => Object.hasOwn(DEEDS, kind);

export function isDeed(request: { readonly kind: string }): request is Deed {
  return isKindOfDeed(request.kind);
}

const DONE: Answer = { is: 'done' };
const REFUSED: Answer = { is: 'refused by the console' };
const PAGE: Answer = { is: 'page' };
const SIGN_IN: Answer = { is: 'sign-in' };
const INACTIVE: Answer = { is: 'introspected', active: false };
const INVALID_TOKEN = refused(401, 'invalid_token');
const INSUFFICIENT_SCOPE = refused(403, 'insufficient_scope');
const redirected = (error: string): Answer => ({ is: 'redirected', error });
const only = (world: World, ...answers: readonly Answer[]): readonly Outcome[] =>
  answers.map((answer) => ({ answer, world }));

/** AS-10.1. */
export function revocation(
  world: World,
  request: Revocation,
  settings: Settings,
): readonly Outcome[] {
  return isLetIn(world, request).flatMap((isIn) => {
    if (!isIn) return only(world, refused(401, 'invalid_client'));
    return only(revoked(world, request, settings), DONE);
  });
}

function revoked(world: World, request: Revocation, settings: Settings): World {
  const { what, as, family, token, wrong } = request;
  if (what === 'own') {
    return found(world.own, token).client === as
      ? changed(world, 'own', token, { revoked: true })
      : world;
  }
  if (what === 'code' || found(world.about, family).erased) return world;
  const asked =
    what === 'access'
      ? ({ kind: 'revoke access', token, as } as const)
      : ({ kind: 'revoke', family, token, as, fault: wrong, name: '' } as const);
  return withGrants(world, step(grantsFor(world, family), asked, settings).state);
}

/** AS-10.2 to AS-10.5, AS-12.1 to AS-12.4. */
export function lookUp(world: World, request: LookUp, settings: Settings): readonly Outcome[] {
  const { kind, as, token, asBearer } = request;
  if (kind === 'introspect' && as !== null) {
    return lives(world, as).flatMap((isIn) =>
      only(world, isIn ? UNAUTHORIZED_CLIENT : refused(401, 'invalid_client')),
    );
  }
  const living = livingToken(world, token, settings);
  if (kind === 'introspect')
    return only(world, living === null ? INACTIVE : introspected(world, living));
  const isBound = living !== null && found(world.clients, living.client).kind === 'bound';
  if (living === null || (isBound && asBearer)) return only(world, INVALID_TOKEN);
  const { person, scopes } = living;
  const held = person === null ? scopes : heldBy(world, person, scopes);
  if (kind === 'api') return only(world, held.includes('notes:read') ? DONE : INSUFFICIENT_SCOPE);
  if (person === null || !scopes.includes('openid')) return only(world, INSUFFICIENT_SCOPE);
  const claims = [
    ...(held.includes('email') ? ['email', 'email_verified'] : []),
    ...(held.includes('profile') ? ['name'] : []),
  ];
  return only(world, { is: 'claims', subject: subjectOf(world, person), claims });
}

function introspected(world: World, living: NonNullable<ReturnType<typeof livingToken>>): Answer {
  const { client, person, scopes, issued, expires } = living;
  return {
    is: 'introspected',
    active: true,
    scope: (person === null ? scopes : heldBy(world, person, scopes)).join(' '),
    client,
    type: found(world.clients, client).kind === 'bound' ? 'DPoP' : 'Bearer',
    expires,
    issued,
    subject: person === null ? null : subjectOf(world, person),
  };
}

/** Returns a person's public subject. The person gets a new one after an erasure (AS-31.8). */
const subjectOf = (world: World, person: string) =>
  `${person} ${found(world.people, person).erasures}`;

/** AS-7, AS-8.7. */
export function ask(world: World, request: Ask, settings: Settings): readonly Outcome[] {
  const { client: id, person, question, scope } = request;
  const client = found(world.clients, id);
  const isVerified = client.kind !== 'registered';
  return lives(world, id).flatMap((isThere) => {
    const { active } = found(world.people, person);
    // The documents say only for unverified clients whether sign-in comes first (AS-7.17).
    const signIn = active ? [] : [SIGN_IN];
    // Without the grant, the client has no redirect URI either.
    if (!isThere || !client.grants.includes('authorization_code'))
      return only(world, PAGE, ...signIn);
    const isBeyond = scope.some((each) => !client.scopes.includes(each));
    if (isBeyond && (isVerified || active))
      return only(world, redirected('invalid_scope'), ...signIn);
    if (!active) return only(world, SIGN_IN);
    const held = heldBy(world, person, scope);
    if (held.length === 0) return only(world, redirected('access_denied'));
    const open = {
      client: id,
      person,
      scopes: held,
      expires: now(world) + settings.consent,
      open: true,
    };
    return only(changed(world, 'questions', question, open), { is: 'question', scopes: held });
  });
}

/** AS-5.11, AS-8.7, AS-8.9, AS-8.21, AS-8.22, AS-30.3, AS-30.4. */
export function reply(world: World, request: Reply, settings: Settings): readonly Outcome[] {
  const { question: id, allows, family } = request;
  const question: Question = found(world.questions, id);
  const { client: clientId, person, scopes, expires, open } = question;
  const client = found(world.clients, clientId);
  if (!found(world.people, person).active) return only(world, SIGN_IN, PAGE);
  return lives(world, clientId).flatMap((isThere) => {
    const left = both(scopes, client.scopes);
    const hasUri = client.grants.includes('authorization_code');
    if (!isThere || !hasUri || left.length === 0) return only(world, PAGE);
    const held = allows ? heldBy(world, person, left) : [];
    if (!open) return replyAgain(world, request, held, settings);
    if (expires <= now(world)) return only(world, PAGE);
    const isGiven = held.length > 0;
    const answer = { allows, at: now(world), family: isGiven ? family : null };
    const answered = changed(world, 'questions', id, { open: false, answered: answer });
    if (!isGiven) return only(answered, redirected('access_denied'));
    const used = client.kind === 'registered' ? { used: now(world) } : {};
    const noted = changed(answered, 'clients', clientId, used);
    const about = { ...noted.about, [family]: { person, scopes: held, erased: false } };
    const grants = allowed(noted.grants, family, clientId, settings);
    return only({ ...noted, about, grants }, { is: 'code' });
  });
}

/** Sends the same answer again. The answer must grant the same access as before. */
function replyAgain(
  world: World,
  { question: id, allows }: Reply,
  held: readonly string[],
  settings: Settings,
): readonly Outcome[] {
  const { answered, expires } = found(world.questions, id);
  const isSame = answered?.allows === allows && now(world) < answered.at + settings.code;
  if (!isSame) return only(world, PAGE);
  // After the question has expired, the server may have removed it.
  const gone = expires <= now(world) ? [PAGE] : [];
  const { family } = answered;
  if (family === null) return only(world, redirected('access_denied'), ...gone);
  const { ended: isEnded, codeSpent } = found(world.grants.families, family);
  if (isEnded) return only(world, PAGE);
  if (codeSpent) return only(world, redirected('access_denied'), ...gone);
  const { scopes } = found(world.about, family);
  if (held.join(' ') !== scopes.join(' ')) return only(world, PAGE);
  const grants = allowedAgain(world.grants, family, settings);
  return [...only({ ...world, grants }, { is: 'code' }), ...only(world, ...gone)];
}

/** AS-13, AS-22.8, AS-30, AS-31, AS-33. */
export function deed(world: World, done: Deed): readonly Outcome[] {
  switch (done.kind) {
    case 'register':
      return only(
        { ...world, clients: { ...world.clients, [done.client]: newClient(done.as, world) } },
        DONE,
      );
    case 'prune':
    case 'rotate keys':
      return only(world, DONE);
    case 'suspend':
    case 'restore':
      return only(changed(world, 'people', done.person, { active: done.kind === 'restore' }), DONE);
    case 'give':
    case 'take': {
      const without = found(world.people, done.person).permissions.filter(
        (each) => each !== done.permission,
      );
      const permissions = done.kind === 'give' ? [...without, done.permission].toSorted() : without;
      return only(changed(world, 'people', done.person, { permissions }), DONE);
    }
    case 'revoke authorization':
      return revokeAuthorization(world, done.family);
    case 'revoke person':
    case 'erase person':
      return endPerson(world, done.person, done.kind === 'erase person');
    case 'take back':
      return takeBack(world, done.person, done.client);
    case 'list':
      return listings(world, done.client).map((families) => ({
        answer: { is: 'listed', families },
        world,
      }));
    case 'revoke client':
      return lives(world, done.client).flatMap((isThere) =>
        isThere
          ? only(changed(world, 'clients', done.client, { revoked: true }), DONE)
          : only(world, REFUSED),
      );
    case 'narrow':
    case 'no refresh':
    case 'no robot':
    case 'refresh again':
    case 'robot':
    case 'rotate secret':
    case 'widen':
      break;
  }
  return lives(world, done.client).flatMap((isThere) => {
    const client = found(world.clients, done.client);
    const next = isThere ? whole(updated(client, done, now(world))) : null;
    return next === null
      ? only(world, REFUSED)
      : only(changed(world, 'clients', done.client, next), DONE);
  });
}

export const CODE_GRANTS: readonly string[] = ['authorization_code', 'refresh_token'];

export function newClient(kind: Client['kind'], world: World): Client {
  const scopes = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];
  const forItself = kind === 'robot';
  return {
    kind,
    scopes: forItself ? ['notes:read', 'notes:write'] : scopes,
    grants: forItself ? ['client_credentials'] : CODE_GRANTS,
    revoked: false,
    secret: 1,
    previousUntil: 0,
    registered: now(world),
    used: null,
  };
}

type Update = Extract<Deed, { readonly client: string }>;

/** Rejects an update that would leave the client without scopes. */
const whole = (update: Partial<Client> | null) => (update?.scopes?.length === 0 ? null : update);

/**
 * Returns the client after an update (AS-13.13, AS-30.2). Returns null if the update is rejected.
 */
function updated(client: Client, update: Update, at: number): Partial<Client> | null {
  const { kind, scopes, grants } = client;
  if (kind === 'registered') return null;
  const isRobot = !grants.includes('authorization_code');
  switch (update.kind) {
    case 'narrow':
      return scopes.includes(update.scope)
        ? { scopes: scopes.filter((each) => each !== update.scope) }
        : null;
    case 'widen':
      // A client that only acts for itself cannot have a scope about a person.
      if (isRobot && PERSONAL.includes(update.scope)) return null;
      return { scopes: scopes.includes(update.scope) ? scopes : [...scopes, update.scope] };
    case 'no refresh':
      return grants.includes('refresh_token')
        ? { grants: grants.filter((each) => each !== 'refresh_token') }
        : null;
    case 'refresh again':
      return isRobot ? null : { grants: CODE_GRANTS };
    case 'robot':
      if (kind !== 'web' || isRobot) return null;
      return {
        grants: ['client_credentials'],
        scopes: scopes.filter((each) => !PERSONAL.includes(each)),
      };
    case 'no robot':
      return kind === 'web' && isRobot ? { grants: CODE_GRANTS } : null;
    case 'rotate secret':
      if (kind !== 'web' && kind !== 'robot') return null;
      return {
        secret: client.secret + 1,
        previousUntil: update.overlap === 0 ? 0 : at + update.overlap,
      };
    case 'list':
    case 'register':
    case 'revoke client':
    case 'take back':
      break;
  }
  throw new Error(`${update.kind} is not an update`);
}

const familiesOf = (world: World, person: string, client?: string) =>
  Object.keys(world.about).filter(
    (family) =>
      found(world.about, family).person === person &&
      (client === undefined || clientOf(world, family) === client),
  );

const endedAll = (world: World, families: readonly string[]): World =>
  families.reduce((each, family) => ({ ...each, grants: ended(each.grants, family) }), world);

/**
 * Revokes an authorization (AS-31.5). If all of its rows were removed, the server may not know it.
 */
function revokeAuthorization(world: World, family: string): readonly Outcome[] {
  if (found(world.about, family).erased) return only(world, REFUSED);
  const isGone = isOver(world, family);
  const after = endedAll(world, [family]);
  return isGone ? [...only(world, REFUSED), ...only(after, DONE)] : only(after, DONE);
}

/** Whether all of the authorization's rows have expired. The server may then have removed them. */
function isOver(world: World, family: string): boolean {
  const { codeExpires, currentExpires } = found(world.grants.families, family);
  const tokens = Object.values(world.grants.accessTokens).filter((each) => each.family === family);
  return [codeExpires, currentExpires, ...tokens.map(({ expires }) => expires)].every(
    (each) => each <= now(world),
  );
}

/** AS-31.6, AS-31.8. */
function endPerson(world: World, person: string, erases: boolean): readonly Outcome[] {
  const families = familiesOf(world, person);
  const open = Object.entries(world.questions).filter(([, each]) => each.person === person);
  const isKnown =
    families.some((each) => !found(world.about, each).erased && !isOver(world, each)) ||
    open.some(([, question]) => question.open && question.expires > now(world));
  let after = endedAll(world, families);
  const forgets = erases ? { answered: null } : {};
  for (const [id] of open) after = changed(after, 'questions', id, { open: false, ...forgets });
  if (erases) {
    for (const family of families) after = changed(after, 'about', family, { erased: true });
    after = changed(after, 'people', person, {
      erasures: found(world.people, person).erasures + 1,
    });
  }
  // Without rows, there is nothing to end. The server may have removed the rows, but stores the
  // subject for longer.
  return isKnown ? only(after, DONE) : [...only(after, DONE), ...only(world, REFUSED)];
}

/** Ends a client's access on the person's own page (AS-6.10). */
function takeBack(world: World, person: string, client: string): readonly Outcome[] {
  if (!found(world.people, person).active) return only(world, SIGN_IN);
  const families = familiesOf(world, person, client);
  // The person can also revoke an authorization that its client cannot use now. The authorization
  // would be valid again if the client got the grant back.
  const { grants } = found(world.clients, client);
  const asIfGranted = changed(world, 'clients', client, { grants: [...grants, ...CODE_GRANTS] });
  const listed = families.map((family) => isListed(asIfGranted, family));
  const after = endedAll(world, families);
  const mayUse = grants.includes('authorization_code');
  const isThere = mayUse && listed.some((each) => !each.includes(false));
  const mayBeThere = listed.some((each) => each.includes(true));
  return [
    ...(mayBeThere ? only(after, DONE) : []),
    ...(isThere ? [] : only(world, { is: 'not there' })),
  ];
}

/** Returns every possible list of authorizations (AS-31.1). */
function listings(world: World, client: string): readonly (readonly string[])[] {
  const families = Object.keys(world.about).filter((family) => clientOf(world, family) === client);
  let lists: readonly (readonly string[])[] = [[]];
  for (const family of families) {
    const may = isListed(world, family);
    lists = may.flatMap((is) => lists.map((list) => (is ? [...list, family] : list)));
  }
  return lists.map((list) => list.toSorted());
}
