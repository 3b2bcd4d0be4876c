/**
 * Checks a history against the model of grants: is there an order of its operations in which each
 * takes effect between its begin and its end, and the model gives every recorded answer?
 * (Linearizability: Herlihy and Wing 1990. The search is that of Wing and Gong 1993, with Lowe's
 * memory of failures, 2017; authorizations are independent, so each is searched separately, as Horn
 * and Kroening 2015 do.)
 *
 * It finds, without knowing what to look for: two answers for one use; anything valid after a
 * detected replay or an answered revocation; anything invalid that no request ended; answered
 * tokens, codes and consents that are gone.
 *
 * An operation without an answer may take effect at any time after its begin, or never. A use that
 * got 503 has one more promise (docs/specification.md, AS-18.9): it was not spent, unless the
 * identical request was answered later.
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
  /** Those without an order, by their begin, with everything that happened at the same time. */
  readonly operations: readonly Operation[];
  /** The first one whose answer has no explanation. */
  readonly last: Operation;
  /** How many others the authorization has up to then. */
  readonly others: number;
}

/** The kind under which a violation counts. */
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
  // Later operations never give an earlier part an order, so the shortest part without one is found
  // by halving.
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
  // Read-only operations are dropped first, so that the interesting ones stay.
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

/** An operation as the search takes it. */
interface Entry {
  readonly operation: Operation;
  /** The earliest time of its effect. */
  readonly begin: number;
  /** The latest time of its effect; infinite if it may have none. */
  readonly end: number;
  /** Null if its effect is unknown: it may have one, or not. */
  readonly answer: Answer | null;
  /** Whether it may give tokens or a code. */
  readonly issues: boolean;
  /** Whether its code may have expired by its end. */
  readonly isLate: boolean;
  readonly lifetimes: Lifetimes;
}

/**
 * How long a code lives, in milliseconds (AS-2.13): a client that keeps asking a process whose node
 * is cut off may be too late.
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
    // The answer may be that of an earlier attempt, which was kept for a repetition.
    const attempts = others.filter((each) => each.answer === 'unavailable' && each.end <= begin);
    const first =
      isStrict && answer === 200 ? Math.min(begin, ...attempts.map((each) => each.begin)) : begin;
    return [{ ...about, begin: first, end, answer }];
  }
  if (request.kind === 'look') return [];
  const unknown = unanswered({ ...about, begin, end, answer: null });
  if (answer === 'lost' || !isUse(request) || !isStrict) return [unknown];
  // It was not spent. It can only have been a replay, if another use came first or at the same
  // time.
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

/** The effects by then: an operation without an answer may have had one, or not. */
function until(time: number, entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(({ begin }) => begin <= time)
    .map((entry) => (entry.end > time ? unanswered(entry) : entry));
}

/** More than a family of the workload can need. */
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
      // An operation without an answer and without a change may be left out.
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

/** Those that can come next, by the time of the answer: usually nothing else took effect. */
function possibleNext(left: readonly Entry[]): readonly Entry[] {
  const firstEnd = Math.min(...left.map(({ end }) => end));
  const possible = left.filter(({ begin }) => begin <= firstEnd);
  return [
    ...possible.filter(({ answer }) => answer !== null),
    ...possible.filter(({ answer }) => answer === null),
  ];
}

/** An answered operation that can come now and changes nothing comes now: it delays no other. */
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

/** Several operations without an answer and with the same request are interchangeable. */
function likenessOf({ operation, answer, issues }: Entry): string {
  const { id, request } = operation;
  const isNameless = answer === null && operation.answer !== 200;
  if (!isNameless) return String(id);
  return JSON.stringify([request.kind, issues, 'token' in request ? request.token : null]);
}

/**
 * The state after it takes effect now, the same object if nothing changes; null if it cannot, or
 * would have another answer.
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

/** In these tests only codes expire. */
const LIFETIMES: Lifetimes = { code: 1, access: Infinity, refresh: Infinity };
/** With `refresh_retry_seconds`, longer than any scenario. */
export const WITH_WINDOW: Lifetimes = { ...LIFETIMES, retry: Infinity };
const IN_TIME = 0;
const LATE = LIFETIMES.code;

/** Null if the requested value does not exist yet. */
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

/** Whether it spends a value that works once. */
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
