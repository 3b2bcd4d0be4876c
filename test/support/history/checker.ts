/**
 * Checks a history against the model of grants. The history is correct if its operations have an
 * order with these two properties: each operation takes effect between its begin and its end, and
 * the model gives every recorded response. (This is linearizability: Herlihy and Wing 1990. The
 * search is that of Wing and Gong 1993, with Lowe's memory of failures, 2017. Authorizations are
 * independent, so each is searched separately, as Horn and Kroening 2015 do.)
 *
 * So the check finds errors of which no one has thought, such as these:
 * - Two responses contain tokens for one use.
 * - A token is valid after a detected replay or after a confirmed revocation.
 * - A token is invalid although no request ended it.
 * - Tokens, codes or consents from a response are lost.
 *
 * An operation without a response may take effect at any time after its begin, or never. For a use
 * that got 503, there is one more promise (docs/specification.md, AS-18.9): it was not used up,
 * unless the identical request succeeded later.
 */
import {
  allowed,
  ended,
  NOTHING,
  step,
  type Answer,
  type Lifetimes,
  type Outcome,
  type State,
} from '../stateful/grants.ts';
import type { Asked, Operation } from './recorder.ts';

export interface Violation {
  readonly family: string;
  readonly broken: Promised;
  /**
   * The operations that no order explains, sorted by their begin, with everything that happened at
   * the same time.
   */
  readonly operations: readonly Operation[];
  /** The first operation whose response no order explains. */
  readonly last: Operation;
  /** How many other operations the authorization had until then. */
  readonly others: number;
}

/** The promises. Each violation breaks one of them. */
export const PROMISES = [
  'answered twice',
  'alive after a replay',
  'lost revocations',
  'lost answered tokens',
  'refused after 503',
] as const;
export type Promised = (typeof PROMISES)[number];

/** What may have happened to a use that got 503. */
export type AfterUnavailable = 'not spent' | 'unknown';

export function findViolations(
  history: readonly Operation[],
  afterUnavailable: AfterUnavailable = 'not spent',
  lifetimes: Lifetimes = LIFETIMES,
): readonly Violation[] {
  const families = new Map<string, Operation[]>();
  for (const operation of history) {
    for (const family of operation.families) {
      families.set(family, [...(families.get(family) ?? []), operation]);
    }
  }
  return [...families].flatMap(
    ([family, operations]) => check(family, operations, afterUnavailable, lifetimes) ?? [],
  );
}

function check(
  family: string,
  operations: readonly Operation[],
  afterUnavailable: AfterUnavailable,
  lifetimes: Lifetimes,
): Violation | null {
  const entries = operations
    .flatMap((operation) => entriesFor(operation, operations, afterUnavailable))
    .map((entry) => ({ ...entry, lifetimes }));
  if (hasOrder(family, entries)) return null;
  // If a part of a history has no order, adding later operations does not give it one. Therefore,
  // halving finds the shortest part without an order.
  const ends = entries
    .flatMap(({ end }) => (end === Infinity ? [] : [end]))
    .toSorted((one, other) => one - other);
  let [explained, unexplained] = [-1, ends.length - 1];
  while (unexplained - explained > 1) {
    const middle = (explained + unexplained) >> 1;
    if (hasOrder(family, until(ends[middle] ?? 0, entries))) explained = middle;
    else unexplained = middle;
  }
  let left = until(ends[unexplained] ?? 0, entries);
  const last = left.find(({ end }) => end === ends[unexplained])?.operation;
  if (last === undefined) throw new Error('A history without an order has an end');
  // Drop read-only operations first, so that operations with an effect remain.
  const looksFirst = left.toSorted((one, other) => Number(isLook(other)) - Number(isLook(one)));
  for (const entry of looksFirst.filter(
    ({ answer, operation }) => answer !== null && operation !== last,
  )) {
    const without = left.map((each) => (each === entry ? unanswered(each) : each));
    if (!hasOrder(family, without)) left = without;
  }
  const needed = left.filter(({ answer }) => answer !== null).map(({ operation }) => operation);
  const others = operations.filter(({ begin }) => begin <= last.end).length - needed.length;
  return { family, broken: brokenBy(last, needed, operations), operations: needed, last, others };
}

/** An operation in the form for the search. */
interface Entry {
  readonly operation: Operation;
  /** The earliest time at which the operation takes effect. */
  readonly begin: number;
  /** The latest time at which the operation takes effect. Infinity if it may never take effect. */
  readonly end: number;
  /** The response. Null if it is unknown whether the operation takes effect. */
  readonly answer: Answer | null;
  /** Whether it may issue tokens or a code. */
  readonly issues: boolean;
  /** Whether its code may have expired before its end. */
  readonly isLate: boolean;
  readonly lifetimes: Lifetimes;
}

/**
 * How long a code is valid, in milliseconds (AS-2.13). A client that repeats its request to an
 * isolated node can be too late.
 */
const CODE_LIFETIME = 60_000;

function isLate({ request, end }: Operation, all: readonly Operation[]): boolean {
  const allowed = all.filter((each) => each.request.kind === 'allow').map(({ begin }) => begin);
  return request.kind === 'exchange' && end >= Math.min(...allowed) + CODE_LIFETIME;
}

function entriesFor(
  operation: Operation,
  all: readonly Operation[],
  afterUnavailable: AfterUnavailable,
): readonly Omit<Entry, 'lifetimes'>[] {
  const { request, begin, end, answer } = operation;
  const others = all.filter((each) => each !== operation && isSameUse(each.request, request));
  const isStrict = afterUnavailable === 'not spent';
  const about = { operation, issues: true, isLate: isLate(operation, all) };
  if (answer !== 'unavailable' && answer !== 'lost') {
    // The response may belong to an earlier attempt: the server repeats stored responses.
    const attempts = others.filter((each) => each.answer === 'unavailable' && each.end <= begin);
    const first =
      isStrict && answer === 200 ? Math.min(begin, ...attempts.map((each) => each.begin)) : begin;
    return [{ ...about, begin: first, end, answer }];
  }
  if (request.kind === 'look') return [];
  const unknown = unanswered({ ...about, begin, end, answer: null });
  if (answer === 'lost' || !isUse(request) || !isStrict) return [unknown];
  // This use did not use up the value. It can be a replay only if another use came before it or at
  // the same time.
  const isReplay = others.some(
    (each) => each.begin < end && (each.answer !== 'unavailable' || each.end > begin),
  );
  return isReplay ? [{ ...unknown, issues: false }] : [];
}

const isLook = ({ operation }: Entry) => operation.request.kind === 'look';
const unanswered = <T extends Omit<Entry, 'lifetimes'>>(entry: T): T => ({
  ...entry,
  end: Infinity,
  answer: null,
});

/**
 * Returns the operations that may have taken effect by this time. Includes operations without a
 * response, which may or may not have taken effect.
 */
function until(time: number, entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(({ begin }) => begin <= time)
    .map((entry) => (entry.end > time ? unanswered(entry) : entry));
}

/** The maximum number of steps of the search. No authorization of the workload needs as many. */
const MOST_STEPS = 500_000;

function hasOrder(family: string, entries: readonly Entry[]): boolean {
  const failed = new Set<string>();
  const explains = (given: readonly Entry[], state: State): boolean => {
    const left = withoutFitting(given, state);
    if (left.every(({ answer }) => answer === null)) return true;
    const key = `${left.map(({ operation }) => operation.id).join(' ')} ${JSON.stringify(state)}`;
    if (failed.has(key)) return false;
    const tried = new Set<string>();
    for (const entry of possibleNext(left)) {
      const kind = likenessOf(entry);
      if (tried.has(kind)) continue;
      const next = after(state, entry);
      // Leave out an operation that has no response and changes nothing.
      if (next === null || next === state) continue;
      tried.add(kind);
      if (explains(left.toSpliced(left.indexOf(entry), 1), next)) return true;
    }
    failed.add(key);
    if (failed.size > MOST_STEPS)
      throw new Error(`Undecided: too many orders of what was asked of ${family}`);
    return false;
  };
  return explains(entries, NOTHING);
}

/**
 * Returns the operations that can come next, sorted by the time of their response. The first one is
 * usually right.
 */
function possibleNext(left: readonly Entry[]): readonly Entry[] {
  const firstEnd = Math.min(...left.map(({ end }) => end));
  const possible = left.filter(({ begin }) => begin <= firstEnd);
  return [
    ...possible.filter(({ answer }) => answer !== null),
    ...possible.filter(({ answer }) => answer === null),
  ];
}

/**
 * Removes the operations that have a response, can come now, and change nothing. They do not delay
 * other operations.
 */
function withoutFitting(given: readonly Entry[], state: State): readonly Entry[] {
  let left = given;
  for (;;) {
    const fitting = possibleNext(left).filter(
      (entry) => entry.answer !== null && after(state, entry) === state,
    );
    if (fitting.length === 0) return left;
    left = left.filter((entry) => !fitting.includes(entry));
  }
}

/**
 * Returns a key. Operations without a response that send the same request have the same key,
 * because their order does not matter.
 */
function likenessOf({ operation, answer, issues }: Entry): string {
  const { id, request } = operation;
  const isNameless = answer === null && operation.answer !== 200;
  if (!isNameless) return String(id);
  return JSON.stringify([request.kind, issues, 'token' in request ? request.token : null]);
}

/**
 * Returns the state after the operation. Returns the same object if nothing changes. Returns null
 * if the operation cannot take effect now, or would have another response.
 */
function after(state: State, entry: Entry): State | null {
  const { operation, answer, issues, isLate: mayBeLate, lifetimes } = entry;
  const inTime = outcomeOf(state, operation.request, IN_TIME, lifetimes);
  const isRefusedLate = mayBeLate && answer === 400 && inTime?.answer === 200;
  const outcome = isRefusedLate ? outcomeOf(state, operation.request, LATE, lifetimes) : inTime;
  if (outcome === null || (answer !== null && answer !== outcome.answer)) return null;
  if (!issues && isUse(operation.request) && outcome.answer === 200) return null;
  return JSON.stringify(outcome.state) === JSON.stringify(state) ? state : outcome.state;
}

/** In these tests, only codes expire. */
const LIFETIMES: Lifetimes = { code: 1, access: Infinity, refresh: Infinity };
/** The lifetimes with `refresh_retry_seconds`. The window is longer than any scenario. */
export const WITH_WINDOW: Lifetimes = { ...LIFETIMES, retry: Infinity };
const IN_TIME = 0;
const LATE = LIFETIMES.code;

/** Returns the result of the operation, or null if the requested value does not exist yet. */
function outcomeOf(
  state: State,
  request: Asked,
  now: number,
  lifetimes: Lifetimes,
): Outcome | null {
  if (request.kind === 'allow' || request.kind === 'deny') {
    const { kind, family, client } = request;
    if (family in state.families || state.revokedClients.includes(client))
      return { state, answer: 400 };
    const answered = allowed(state, family, client, lifetimes);
    return { state: kind === 'allow' ? answered : ended(answered, family), answer: 200 };
  }
  if (request.kind === 'remove') {
    const removed = Object.keys(state.families).reduce(ended, state);
    return { state: removed, answer: 200 };
  }
  if ('token' in request && !(request.token in state.accessTokens)) return null;
  if ('family' in request && !(request.family in state.families)) return null;
  const { state: next, answer } = step({ ...state, now }, request, lifetimes);
  return { state: { ...next, now: state.now }, answer };
}

/** Whether the operation uses up a code or token that can be used only once. */
function isUse({ kind }: Asked): boolean {
  return kind === 'allow' || kind === 'deny' || kind === 'exchange' || kind === 'refresh';
}

function isSameUse(one: Asked, other: Asked): boolean {
  if (!isUse(one) || one.kind !== other.kind) return false;
  return one.kind !== 'refresh' || (other.kind === 'refresh' && one.token === other.token);
}

const ENDING: readonly Asked['kind'][] = ['revoke', 'remove', 'revoke access', 'revoke client'];

function brokenBy(
  last: Operation,
  needed: readonly Operation[],
  all: readonly Operation[],
): Promised {
  const { request, answer } = last;
  const before = (of: readonly Operation[], isOne: (each: Operation) => boolean) =>
    of.some((each) => each !== last && each.begin < last.end && isOne(each));
  const isSame = (each: Operation) => isSameUse(each.request, request);
  const isEnding = (each: Operation) => ENDING.includes(each.request.kind);
  if (answer === 200 || answer === 'good') {
    if (before(needed, (each) => isSame(each) && each.answer === 200)) return 'answered twice';
    const isReplay = before(needed, (each) => isUse(each.request) && each.answer === 400);
    return before(isReplay ? needed : all, isEnding) ? 'lost revocations' : 'alive after a replay';
  }
  return before(all, (each) => isSame(each) && each.answer === 'unavailable')
    ? 'refused after 503'
    : 'lost answered tokens';
}
