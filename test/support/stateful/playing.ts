import { isDeepStrictEqual } from 'node:util';
import type fc from 'fast-check';
import { look, requestTokens, revoke } from './applications.ts';
import { nodeOf, type Known } from './known.ts';
import {
  ask as askRules,
  deed as deedRules,
  isDeed,
  lookUp,
  reply as replyRules,
  revocation,
  type Ask,
  type Deed,
  type LookUp,
  type Reply,
  type Revocation,
} from './other-rules.ts';
import { ask, perform, reply } from './people-and-operators.ts';
import {
  givenBy,
  refused,
  sameness,
  tokenRequest,
  type Answer,
  type Outcome,
  type TokenRequest,
} from './token-rules.ts';
import { EMPTY, found, now, type Settings, type World } from './world.ts';

/** A command. Each response to it is compared with the model. */

export type Request = TokenRequest | Revocation | LookUp | Ask | Reply | Deed;

/** A fault in the store of a process during a request. It may continue for some later requests. */
export interface Fault {
  /**
   * The kind of fault. Either the store is away from the start, or it fails during the requested
   * use. In the second case, the use takes effect or not.
   */
  readonly is: 'away' | 'lost before' | 'lost after';
  /**
   * For how many later requests the store stays away. Null means that it is available again before
   * the server asks whether the use took effect.
   */
  readonly staysFor: number | null;
}

export interface Sent {
  readonly request: Request;
  readonly node: number;
}

/** What the model knows about a run, and what happened in the run. */
export interface Model {
  readonly settings: Settings;
  /** All worlds that fit the responses so far. There is always at least one. */
  worlds: readonly World[];
  /** For each process, for how many more requests its store stays away. */
  readonly down: number[];
  /** The issued tokens, with the oldest first. */
  readonly held: string[];
  /** The issued tokens that include a refresh token. */
  readonly refreshable: string[];
  /** Consent screens that were shown. */
  readonly shown: string[];
  names: number;
  readonly log: string[];
}

/** How many times each event happened in all runs together. */
export interface Counts {
  commands: number;
  requests: number;
  together: number;
  samples: number;
  faults: number;
  /** The largest number of possible worlds. */
  worlds: number;
  readonly answers: Record<string, number>;
}

export const createCounts = (): Counts => ({
  commands: 0,
  requests: 0,
  together: 0,
  samples: 0,
  faults: 0,
  worlds: 1,
  answers: {},
});

export interface Real {
  readonly known: Known;
  /** The scheduler that draws the order of requests at the same time. */
  readonly scheduler: fc.Scheduler;
  readonly counts: Counts;
}

export function createModel(settings: Settings): Model {
  return {
    settings,
    worlds: [EMPTY],
    down: [0, 0],
    held: [],
    refreshable: [],
    shown: [],
    names: 0,
    log: [],
  };
}

export function worldOf({ worlds: [world] }: Pick<Model, 'worlds'>): World {
  if (world === undefined) throw new Error('There is no world left');
  return world;
}

export const NODES = 2;

const UNAVAILABLE = refused(503, 'temporarily_unavailable');

/** Returns what the documents say about a single request to a process whose store is available. */
function rules(world: World, { request, node }: Sent, settings: Settings): readonly Outcome[] {
  if (isDeed(request)) return deedRules(world, request);
  switch (request.kind) {
    case 'exchange':
    case 'refresh':
    case 'credentials':
      return tokenRequest(world, request, node, settings);
    case 'revoke':
      return revocation(world, request, settings);
    case 'introspect':
    case 'userinfo':
    case 'api':
      return lookUp(world, request, settings);
    case 'ask':
      return askRules(world, request, settings);
    case 'reply':
      break;
  }
  return replyRules(world, request, settings);
}

function send({ known }: Real, model: Model, { request, node }: Sent): Promise<Answer> {
  if (isDeed(request)) return perform(known, request, node);
  switch (request.kind) {
    case 'exchange':
    case 'refresh':
    case 'credentials':
      return requestTokens(known, request, node);
    case 'revoke':
      return revoke(known, request, node);
    case 'introspect':
    case 'userinfo':
    case 'api':
      return look(known, request, node);
    case 'ask':
      return ask(known, request, node);
    case 'reply':
      break;
  }
  return reply(known, request, found(worldOf(model).questions, request.question), node);
}

/** Returns the outcomes if nothing was done: a 503, or an error response that needs no store. */
function whileAway(world: World, sent: Sent, settings: Settings): readonly Outcome[] {
  const unneeded = rules(world, sent, settings).filter(
    ({ answer, world: after }) =>
      after === world && answer.is === 'refused' && answer['status'] === 400,
  );
  return [{ answer: UNAVAILABLE, world }, ...unneeded];
}

/**
 * Returns the outcomes if it is unknown whether the use took effect. If it did, the process keeps
 * the response for the same request (AS-18.9, AS-18.24).
 */
function inDoubt(world: World, sent: Sent, settings: Settings): readonly Outcome[] {
  const { request, node } = sent;
  const happened = rules(world, sent, settings).flatMap(({ answer, world: after }) => {
    if (answer.is !== 'tokens' || (request.kind !== 'exchange' && request.kind !== 'refresh'))
      return [];
    const kept = {
      node,
      request: sameness(request),
      gives: givenBy(request),
      family: request.family,
      isCode: request.kind === 'exchange',
      until: now(world) + KEPT_FOR,
    };
    return [
      {
        answer: UNAVAILABLE,
        world: { ...after, clients: world.clients, kept: [...after.kept, kept] },
      },
    ];
  });
  return [{ answer: UNAVAILABLE, world }, ...happened];
}

/** How long a process keeps a response that was not delivered, in seconds (AS-18.24). */
const KEPT_FOR = 300;

/** Sends one request to a process. Its store may have a fault. */
export async function sendOne(
  model: Model,
  real: Real,
  sent: Sent,
  fault: Fault | null = null,
): Promise<void> {
  const { node } = sent;
  const { store } = nodeOf(real.known, node);
  const wasDown = (model.down[node] ?? 0) > 0 && !onConsole(sent.request);
  const befalls = wasDown ? null : fault;
  if (befalls?.is === 'away') store.isAway = true;
  else if (befalls !== null) {
    store.loses = befalls.is === 'lost after' ? 'after it took effect' : 'before it took effect';
    store.whenLost = () => void (store.isAway = befalls.staysFor !== null);
  }
  const answer = await send(real, model, sent);
  const wasLost = befalls !== null && befalls.is !== 'away' && store.loses === null;
  store.loses = null;
  store.whenLost = () => {};
  const isAway = wasDown || befalls?.is === 'away';
  const outcomes = (world: World): readonly Outcome[] => {
    if (isAway) return whileAway(world, sent, model.settings);
    if (!wasLost) return rules(world, sent, model.settings);
    if (befalls.staysFor !== null) return inDoubt(world, sent, model.settings);
    const notDone = { answer: UNAVAILABLE, world };
    if (befalls.is === 'lost before') return [notDone];
    // The server asks whether the use took effect. If the rules reject the request, the use did not
    // take effect, and a 503 is possible too.
    const answered = rules(world, sent, model.settings);
    return answered.some(({ answer: { is } }) => is === 'refused')
      ? [...answered, notDone]
      : answered;
  };
  if (wasDown) comesBack(model, real, node, (model.down[node] ?? 0) - 1);
  else if (isAway || wasLost) comesBack(model, real, node, befalls?.staysFor ?? 0);
  if (isAway || wasLost) real.counts.faults += 1;
  const happened = isAway
    ? 'away'
    : wasLost
      ? `${befalls.is}, ${befalls.staysFor === null ? 'and back' : 'in doubt'}`
      : '';
  settle(model, real, [sent], [answer], model.worlds.flatMap(outcomes), happened);
}

/**
 * Whether the command is not a request to a process. While a process's store is away, people and
 * clients that register send nothing.
 */
const onConsole = ({ kind }: Request) => !OF_APPLICATIONS.has(kind);
const OF_APPLICATIONS: ReadonlySet<string> = new Set([
  'exchange',
  'refresh',
  'credentials',
  'revoke',
  'introspect',
  'userinfo',
  'api',
]);

/** Sets for how many more requests a process's store stays away. */
function comesBack(model: Model, real: Real, node: number, requests: number): void {
  model.down[node] = requests;
  nodeOf(real.known, node).store.isAway = requests > 0;
}

/**
 * Sends several requests at the same time. An order of these requests must explain the responses.
 */
export async function sendTogether(model: Model, real: Real, all: readonly Sent[]): Promise<void> {
  const { installation } = real.known;
  // The scheduler draws the order of the statements at the store. A repeated run has the same
  // order.
  installation.turn = () => real.scheduler.schedule(Promise.resolve());
  const answering = Promise.all(all.map((sent) => send(real, model, sent)));
  const answers = await real.scheduler.waitFor(answering).finally(() => (installation.turn = null));
  real.counts.together += 1;
  const outcomes: Outcome[] = [];
  for (const order of orders(all.map((_, index) => index))) {
    let worlds = model.worlds;
    for (const index of order) {
      const sent = all[index];
      if (sent === undefined) continue;
      worlds = worlds
        .flatMap((world) => rules(world, sent, model.settings))
        .filter(({ answer }) => isDeepStrictEqual(answer, answers[index]))
        .map(({ world }) => world);
    }
    outcomes.push(...worlds.map((world) => ({ answer: ALL, world })));
  }
  settle(model, real, all, answers, outcomes, 'at once');
}

const ALL: Answer = { is: 'all' };

function orders(indexes: readonly number[]): readonly (readonly number[])[] {
  if (indexes.length < 2) return [indexes];
  return indexes.flatMap((first) =>
    orders(indexes.filter((index) => index !== first)).map((rest) => [first, ...rest]),
  );
}

/** Keeps only the worlds in which the server would have sent this response. */
function settle(
  model: Model,
  real: Real,
  sent: readonly Sent[],
  answers: readonly Answer[],
  outcomes: readonly Outcome[],
  happened: string,
): void {
  const { counts } = real;
  for (const [index, each] of sent.entries()) {
    const answer = answers[index] ?? ALL;
    const told = `${shown(each.request)} at ${each.node}${happened === '' ? '' : ` (${happened})`} -> ${shown(answer)}`;
    model.log.push(told);
    counts.requests += 1;
    const kind = `${each.request.kind}: ${typeof answer['error'] === 'string' ? answer['error'] : answer.is}`;
    counts.answers[kind] = (counts.answers[kind] ?? 0) + 1;
    if (answer.is === 'tokens' && !model.held.includes(String(answer['name']))) {
      model.held.push(String(answer['name']));
      if (answer['refreshes'] === true) model.refreshable.push(String(answer['name']));
    }
    if (answer.is === 'question' && each.request.kind === 'ask')
      model.shown.push(each.request.question);
  }
  const [answer = ALL] = answers;
  const fitting = outcomes.filter(
    (each) => each.answer === ALL || isDeepStrictEqual(each.answer, answer),
  );
  if (fitting.length === 0) throw new NotAsSpecified(model, answers, outcomes);
  const worlds = new Map(fitting.map(({ world }) => [JSON.stringify(world), world]));
  model.worlds = [...worlds.values()];
  counts.worlds = Math.max(counts.worlds, model.worlds.length);
}

/** Thrown for a response that no rule gives. */
class NotAsSpecified extends Error {
  constructor(model: Model, answers: readonly Answer[], outcomes: readonly Outcome[]) {
    const expected = [...new Set(outcomes.map(({ answer }) => shown(answer)))];
    super(
      `The answer is ${answers.map(shown).join(' and ')}; by the documents it is ` +
        `${expected.length === 0 ? 'none of these in any order' : expected.join(', or ')}.\n${told(model)}`,
    );
    this.name = 'NotAsSpecified';
  }
}

/** Returns everything that was sent in this run, with one line each. */
export function told({ log }: Model): string {
  return log.map((line, index) => `  ${index + 1}. ${line}`).join('\n');
}

const shown = (value: object): string =>
  JSON.stringify(value).replaceAll('"', '').replaceAll(/[{}]/g, ' ').replaceAll(',', ', ').trim();
