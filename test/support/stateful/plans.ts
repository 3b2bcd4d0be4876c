import { INSPECTOR } from './applications.ts';
import type { Intent } from './intents.ts';
import { isKindOfDeed, type Deed, type LookUp } from './other-rules.ts';
import {
  NODES,
  sendOne,
  sendTogether,
  worldOf,
  type Model,
  type Real,
  type Request,
  type Sent,
} from './playing.ts';
import {
  CLIENT_KINDS,
  clientOf,
  DAY,
  found,
  inForce,
  PERMISSIONS,
  SCOPES,
  type Settings,
  type World,
} from './world.ts';

/** What a command does in the current world. */
export type Plan = (model: Model, real: Real) => Promise<void>;

type Of<Does> = Extract<Intent, { readonly does: Does }>;

/** The people at the start of a run, and the maximum number of clients and authorizations later. */
const PEOPLE: readonly (readonly string[])[] = [Object.values(PERMISSIONS), ['notes:read'], []];
const MOST = { clients: 7, families: 12 };

const pick = <T>(from: readonly T[], number: number): T | null =>
  from[number % from.length] ?? null;

/** Returns one of the newest items. It prefers items on which the command has an effect. */
function likely(
  world: World,
  number: number,
  isWorthIt: (family: string) => boolean,
): string | null {
  const all = Object.keys(world.grants.families).toReversed();
  const sorted = all.toSorted((one, other) => Number(isWorthIt(other)) - Number(isWorthIt(one)));
  return pick(sorted.slice(0, 3), number);
}

export function plan(model: Readonly<Model>, intent: Intent): Plan | null {
  const planned = planFor(model, intent);
  if (planned === null) return null;
  return async (now, real) => {
    await planned(now, real);
    await sample(now, real);
  };
}

function planFor(model: Readonly<Model>, intent: Intent): Plan | null {
  if ('one' in intent) return numbered(model, intent);
  switch (intent.does) {
    case 'connect':
      return connect(model, intent);
    case 'exchange':
    case 'refresh':
    case 'revoke': {
      const sent = sentFor(model, intent);
      return sent === null ? null : (now, real) => sendOne(now, real, sent, intent.fault);
    }
    case 'together':
      return together(model, intent);
    case 'time':
      break;
  }
  return time(model, intent.passes);
}

function sentFor(
  model: Readonly<Model>,
  intent: Of<'exchange' | 'refresh' | 'revoke'>,
): Sent | null {
  const world = worldOf(model);
  const { families } = world.grants;
  const { secret, node } = intent;
  const isHeld = (family: string) => tokensHeld(model, family).length > 0;
  const family = likely(world, intent.family, (each) => {
    const { codeSpent, ended, current } = found(families, each);
    return intent.does === 'exchange' ? !codeSpent : current !== null && !ended && isHeld(each);
  });
  if (family === null) return null;
  const owner = clientOf(world, family);
  const as = intent.byOther
    ? (Object.keys(world.clients).findLast((each) => each !== owner) ?? owner)
    : owner;
  const { kind } = found(world.clients, as);
  const proof = kind === 'bound' && 'proof' in intent ? intent.proof : 'own';
  const send = (request: Request): Sent => ({ request, node: node % NODES });
  if (intent.does === 'exchange') {
    // A client can exchange the code with any key, so use only its own key here.
    const proved = proof === 'none' ? 'none' : 'own';
    return send({ kind: 'exchange', family, as, secret, wrong: intent.wrong, proof: proved });
  }
  const { wrong, age } = intent;
  // Use variant 0, because there is only one correct way.
  const variant = wrong === 'none' ? 0 : intent.variant;
  if (intent.does === 'revoke' && intent.what === 'code') {
    return send({
      kind: 'revoke',
      what: 'code',
      family,
      token: '',
      as,
      secret,
      wrong: 'none',
      variant,
    });
  }
  const isAccess = intent.does === 'revoke' && intent.what === 'access';
  const held = tokensHeld(model, family).filter(
    (each) => isAccess || model.refreshable.includes(each),
  );
  const token = held.at(-1 - Math.min(age, held.length - 1));
  if (token === undefined) return null;
  if (intent.does === 'revoke') {
    const what = isAccess ? 'access' : 'refresh';
    return send({
      kind: 'revoke',
      what,
      family,
      token,
      as,
      secret,
      wrong: isAccess ? 'none' : wrong,
      variant,
    });
  }
  const scope = scopeFor(world, family, intent.scope);
  return send({ kind: 'refresh', family, token, as, secret, wrong, variant, scope, proof });
}

const tokensHeld = ({ held }: Readonly<Model>, family: string) =>
  held.filter((each) => each.startsWith(`${family}.`));

/** Returns the scopes to request: all, some, or more than the authorization has. */
function scopeFor(world: World, family: string, choice: number | null): readonly string[] | null {
  const all = inForce(world, family);
  if (choice === null || all.length === 0) return null;
  if (choice === 0) return all;
  if (choice === 4) return SCOPES;
  return choice === 3 ? all.slice(0, 1) : all.slice(-choice);
}

/** The scopes that a client requests: all of them, as few as one, or some that it may not have. */
const ASKED: readonly (readonly string[])[] = [
  SCOPES,
  ['notes:read', 'notes:write'],
  ['openid', 'notes:read'],
  ['notes:write'],
  ['openid', 'profile', 'email', 'notes:read'],
];

/** Connects a client as far as possible: asks a person, sends the answer, and gets the tokens. */
function connect(model: Readonly<Model>, intent: Of<'connect'>): Plan | null {
  const world = worldOf(model);
  if (Object.keys(world.about).length >= MOST.families) return null;
  const clients = Object.keys(world.clients).filter((each) => !found(world.clients, each).revoked);
  const client = pick(clients.toReversed(), intent.client);
  const person = pick(Object.keys(world.people), intent.person);
  if (client === null || person === null) return null;
  const { scopes } = found(world.clients, client);
  const wanted = pick(ASKED, intent.scope) ?? SCOPES;
  const allowed = wanted.filter((each) => scopes.includes(each));
  // Rarely ask for more scopes than the client may have.
  const scope = intent.scope < 90 && allowed.length > 0 ? allowed : wanted;
  const node = intent.node % NODES;
  if ((model.down[node] ?? 0) > 0) return null;
  return async (now, real) => {
    const question = `q${(now.names += 1)} of ${client}`;
    const family = `f${now.names}`;
    await sendOne(now, real, { request: { kind: 'ask', question, client, person, scope }, node });
    if (!now.shown.includes(question) || intent.goesTo === 'screen') return;
    const { allows } = intent;
    await sendOne(now, real, { request: { kind: 'reply', question, allows, family }, node });
    if (worldOf(now).about[family] === undefined || intent.goesTo === 'code') return;
    const exchange = {
      kind: 'exchange',
      family,
      as: client,
      secret: 'current',
      wrong: 'none',
      proof: 'own',
    } as const;
    await sendOne(now, real, { request: exchange, node });
  };
}

function together(model: Readonly<Model>, { all }: Of<'together'>): Plan | null {
  if (model.down.some((requests) => requests > 0)) return null;
  const sent = all.map((each) => sentAtOnce(model, each)).filter((each) => each !== null);
  if (sent.length < 2) return null;
  // Send each request to a different process.
  const [first = { node: 0 }] = sent;
  const spread = sent.map((each, index) => ({ ...each, node: (first.node + index) % NODES }));
  return (now, real) => sendTogether(now, real, spread);
}

function sentAtOnce(model: Readonly<Model>, intent: Of<'together'>['all'][number]): Sent | null {
  if (!('one' in intent)) return sentFor(model, intent);
  const request = requestFor(model, intent);
  return request === null ? null : { request, node: intent.node % NODES };
}

/** Returns times just before and exactly at each time limit, and much later. */
function jumps({ code, access, refresh, consent, retry = code }: Settings): readonly number[] {
  const ends = [code, access, refresh, retry, consent].flatMap((end) => [end - 1, end]);
  return [
    1,
    1,
    1,
    10,
    10,
    retry,
    299,
    300,
    ...ends,
    access + 3601,
    DAY,
    refresh + 3601,
    30 * DAY,
    91 * DAY,
  ];
}

function time({ settings }: Readonly<Model>, passes: number): Plan {
  const seconds = pick(jumps(settings), passes) ?? 1;
  return async (now, real) => {
    real.known.installation.advance(seconds);
    now.worlds = now.worlds.map((world) => ({
      ...world,
      grants: { ...world.grants, now: world.grants.now + seconds },
    }));
    now.log.push(`${seconds} s pass`);
  };
}

type Numbered = Exclude<
  Intent,
  Of<'connect' | 'exchange' | 'refresh' | 'revoke' | 'together' | 'time'>
>;

function numbered(model: Readonly<Model>, intent: Numbered): Plan | null {
  if (intent.does === 'restart') return restart(intent.node % NODES);
  const sent = requestFor(model, { ...intent, does: intent.does });
  if (sent === null) return null;
  return (now, real) => {
    now.names += 1;
    return sendOne(now, real, { request: sent, node: intent.node % NODES });
  };
}

function restart(node: number): Plan {
  return async (now, real) => {
    real.known.installation.restart(node);
    now.down[node] = 0;
    now.worlds = now.worlds.map((world) => ({
      ...world,
      kept: world.kept.filter((each) => each.node !== node),
    }));
    now.log.push(`process ${node} is started anew`);
  };
}

type Asking = Omit<Numbered, 'does'> & { readonly does: Exclude<Numbered['does'], 'restart'> };

function requestFor(model: Readonly<Model>, { does, one, two, node }: Asking): Request | null {
  const world = worldOf(model);
  const clients = Object.keys(world.clients);
  const client = pick(clients.toReversed(), one);
  const person = pick(Object.keys(world.people), one);
  const family = pick(Object.keys(world.about).toReversed(), one);
  const isDown = (model.down[node % NODES] ?? 0) > 0;
  if (isKindOfDeed(does)) return deedFor(world, does, { client, person, family, two, isDown });
  switch (does) {
    case 'reply': {
      const question = pick(model.shown.toReversed().slice(0, 3), one);
      if (question === null || isDown) return null;
      return { kind: 'reply', question, allows: two % 5 > 0, family: `f${model.names + 1}` };
    }
    case 'own token': {
      const robots = clients.filter((each) => found(world.clients, each).kind === 'robot');
      const as = two % 4 === 0 ? client : pick(robots, one);
      if (as === null) return null;
      const scope = [null, ['notes:read'], ['notes:write'], ['openid']][two % 3] ?? null;
      return { kind: 'credentials', as, secret: 'current', scope, gives: `o${model.names + 1}` };
    }
    case 'end own token': {
      const token = pick(Object.keys(world.own), one);
      if (token === null) return null;
      const { client: owner } = found(world.own, token);
      const as = two % 3 === 0 ? (client ?? owner) : owner;
      const what = { kind: 'revoke', what: 'own', family: token, token } as const;
      return { ...what, as, secret: 'current', wrong: 'none', variant: 0 };
    }
    case 'userinfo':
    case 'api':
    case 'introspect':
    case 'introspect as client': {
      const token = pick(model.held.toReversed().slice(0, 6), one);
      if (token === null) return null;
      const kind = does === 'introspect as client' ? 'introspect' : does;
      return {
        kind,
        token,
        as: does === 'introspect as client' ? client : null,
        asBearer: two % 4 === 0,
      };
    }
    case 'new client':
      break;
  }
  const kind = pick(CLIENT_KINDS, two) ?? 'web';
  if (clients.length >= MOST.clients || (isDown && kind === 'registered')) return null;
  return { kind: 'register', client: `${kind}${clients.length + 1}`, as: kind };
}

interface Chosen {
  readonly client: string | null;
  readonly person: string | null;
  readonly family: string | null;
  readonly two: number;
  readonly isDown: boolean;
}

type DeedIntent = Extract<Numbered['does'], Deed['kind']>;

function deedFor(world: World, does: DeedIntent, chosen: Chosen): Deed | null {
  const { client, person, family, two, isDown } = chosen;
  switch (does) {
    case 'prune':
      return isDown ? null : { kind: 'prune' };
    case 'rotate keys':
      return { kind: 'rotate keys' };
    case 'revoke authorization':
      return family === null ? null : { kind: does, family };
    case 'suspend':
    case 'restore':
    case 'revoke person':
    case 'erase person':
      return person === null ? null : { kind: does, person };
    case 'give':
    case 'take': {
      const permission = pick(Object.values(PERMISSIONS), two) ?? '';
      return person === null ? null : { kind: does, person, permission };
    }
    case 'take back': {
      const from = family === null ? null : clientOf(world, family);
      const whose = family === null ? null : found(world.about, family).person;
      return from === null || whose === null || isDown
        ? null
        : { kind: 'take back', person: whose, client: from };
    }
    case 'list':
    case 'narrow':
    case 'no refresh':
    case 'refresh again':
    case 'revoke client':
    case 'robot':
    case 'rotate secret':
    case 'widen':
      break;
  }
  return client === null ? null : updateFor(world, does, client, two);
}

type UpdateIntent =
  | 'narrow'
  | 'widen'
  | 'no refresh'
  | 'refresh again'
  | 'robot'
  | 'rotate secret'
  | 'revoke client'
  | 'list';

function updateFor(world: World, does: UpdateIntent, client: string, two: number): Deed | null {
  const { kind, grants, scopes } = found(world.clients, client);
  switch (does) {
    case 'narrow':
      return {
        kind: does,
        client,
        scope: pick(two % 8 === 0 ? SCOPES : scopes, two) ?? 'notes:read',
      };
    case 'widen':
      return {
        kind: does,
        client,
        scope:
          pick(
            SCOPES.filter((each) => two % 8 === 0 || !scopes.includes(each)),
            two,
          ) ?? 'notes:read',
      };
    case 'robot':
      if (kind !== 'web') return null;
      return { kind: grants.includes('client_credentials') ? 'no robot' : 'robot', client };
    case 'rotate secret':
      return { kind: does, client, overlap: two % 2 === 0 ? DAY : 0 };
    case 'list':
    case 'no refresh':
    case 'refresh again':
    case 'revoke client':
      break;
  }
  return { kind: does, client };
}

/** How many tokens are checked after each command. */
const SAMPLED = 4;

/**
 * Checks that tokens are valid exactly as long as the model says. Introspects only some of the
 * issued tokens.
 */
async function sample(model: Model, real: Real): Promise<void> {
  const node = model.down.findIndex((requests) => requests === 0);
  if (node === -1) return;
  const newest = model.held.slice(-SAMPLED + 1);
  const another = pick(model.held.slice(0, -SAMPLED + 1), model.log.length);
  for (const [index, token] of [...newest, ...(another === null ? [] : [another])].entries()) {
    const at = (model.down[(node + index) % NODES] ?? 0) === 0 ? (node + index) % NODES : node;
    const request: LookUp = { kind: 'introspect', token, as: null, asBearer: false };
    await sendOne(model, real, { request, node: at });
    real.counts.samples += 1;
  }
}

/** Sets up the start of a run with two people and two applications. */
export async function populate(model: Model, real: Real): Promise<void> {
  const { installation, clients } = real.known;
  const { client: inspector, secret } = await installation.console.clients.create({
    name: 'The resource server',
    grants: ['introspection'],
  });
  clients.set(INSPECTOR, {
    id: inspector.id,
    kind: 'web',
    secrets: [secret ?? ''],
    redirectUri: '',
  });
  for (const [index, permissions] of PEOPLE.entries()) {
    const name = `p${index + 1}`;
    installation.addPerson(name, permissions);
    const person = { active: true, permissions: permissions.toSorted(), erasures: 0 };
    model.worlds = model.worlds.map((world) => ({
      ...world,
      people: { ...world.people, [name]: person },
    }));
  }
  for (const as of ['web', 'spa'] as const) {
    const client = `${as}${Object.keys(worldOf(model).clients).length + 1}`;
    await sendOne(model, real, { request: { kind: 'register', client, as }, node: 0 });
  }
}
