import { runTlc } from '../../../tools/model/tlc.ts';
import { bounds, configOf } from '../../../tools/model/bounds.ts';
import type { Operation } from '../history/recorder.ts';

/**
 * TLC's verdict about recorded histories: whether tools/model/Grants.tla has a behaviour with these
 * responses.
 */
export interface Explained {
  /** The number of authorizations that were checked. */
  readonly asked: number;
  /** The number of their operations. */
  readonly operations: number;
  /** The names of the authorizations that the model does not explain. */
  readonly unexplained: readonly string[];
  readonly seconds: number;
}

/**
 * The bound for losses, which no history reaches. Any request without a response may have been lost
 * at any step.
 */
const OFTEN = 99;

interface Recorded {
  readonly family: string;
  readonly operations: readonly Operation[];
}

/**
 * Compares the longest `most` authorizations of a history with the model. Includes an authorization
 * if its consent was answered before any other request for it, and if it ended while its code was
 * valid (one minute). In such an authorization, nothing expires.
 */
export async function explain(
  history: readonly Operation[],
  { window, most }: { readonly window: boolean; readonly most: number },
): Promise<Explained> {
  const recorded = longest(history, most);
  if (recorded.length === 0) return { asked: 0, operations: 0, unexplained: [], seconds: 0 };
  const left = new Set(recorded.keys());
  const isExplained = (line: string): boolean => {
    const found = /^<<\s*"explained", (\d+)\s*>>/.exec(line)?.[1];
    if (found !== undefined) left.delete(Number(found) - 1);
    return left.size === 0;
  };
  const given = bounds({
    K: Math.max(...recorded.map(({ operations }) => operations.length)),
    Start: 'code',
    Window: window,
    Revokes: true,
    MaxLosses: OFTEN,
  });
  const { seconds } = await runTlc({
    module: 'History',
    modules: { Recorded: moduleOf(recorded) },
    config: [
      ...configOf(given, nodesOf(recorded)),
      'SPECIFICATION HistorySpec',
      'VIEW View',
      'INVARIANTS Explained',
    ],
    heard: isExplained,
  });
  return {
    asked: recorded.length,
    operations: recorded.reduce((sum, { operations }) => sum + operations.length, 0),
    unexplained: [...left].map((index) => recorded[index]?.family ?? ''),
    seconds,
  };
}

/** Returns the operations of the longest authorizations, which `explain` checks. */
export function longestOf(history: readonly Operation[], most: number): readonly Operation[] {
  const families = new Set(longest(history, most).map(({ family }) => family));
  return history.filter((operation) => operation.families.some((family) => families.has(family)));
}

const longest = (history: readonly Operation[], most: number): readonly Recorded[] =>
  authorizationsOf(history)
    .toSorted((one, other) => other.operations.length - one.operations.length)
    .slice(0, most);

const CODE_LIFETIME = 60_000;

function authorizationsOf(history: readonly Operation[]): readonly Recorded[] {
  const families = new Map<string, Operation[]>();
  for (const operation of history) {
    for (const family of operation.families)
      families.set(family, [...(families.get(family) ?? []), operation]);
  }
  return [...families].flatMap(([family, all]) => {
    const allowed = all.filter(({ request }) => request.kind === 'allow');
    // Leave out a read-only operation without a response, because it has no effect.
    const operations = all.filter((each) => !allowed.includes(each) && !isUnheardLook(each));
    const [first] = allowed;
    const isWhole =
      first?.answer === 200 &&
      allowed.length === 1 &&
      operations.length > 0 &&
      operations.every(({ request, begin }) => isKnown(request.kind) && begin > first.end) &&
      operations.every(
        ({ request, end }) => request.kind !== 'exchange' || end < first.begin + CODE_LIFETIME,
      );
    return isWhole ? [{ family, operations }] : [];
  });
}

const DOES: Readonly<Record<string, string>> = {
  exchange: 'use',
  refresh: 'use',
  revoke: 'revoke',
  remove: 'remove',
  look: 'look',
  'revoke access': 'revoke access',
  'revoke client': 'revoke client',
};

const isKnown = (kind: string): boolean => Object.hasOwn(DOES, kind);
const isUnheardLook = ({ request, answer }: Operation): boolean =>
  request.kind === 'look' && (answer === 'lost' || answer === 'unavailable');
const nodesOf = (recorded: readonly Recorded[]): readonly string[] => [
  ...new Set(recorded.flatMap(({ operations }) => operations.map(({ node }) => node))),
];
const answerOf = ({ answer }: Operation): string =>
  answer === 'unavailable' ? '503' : String(answer);

/** Returns the module Recorded with these operations. */
function moduleOf(recorded: readonly Recorded[]): string {
  return `---- MODULE Recorded ----\nRecorded == <<\n${recorded.map(({ operations }) => written(operations)).join(',\n')}\n>>\n====\n`;
}

function written(operations: readonly Operation[]): string {
  const names = new Map<string, number>();
  const numberOf = (name: string): number => {
    const number = names.get(name) ?? names.size + 1;
    names.set(name, number);
    return number;
  };
  const asked = operations.map((operation) => {
    const { request, node } = operation;
    const offer = 'token' in request ? numberOf(request.token) : 0;
    const fields = [`does |-> "${DOES[request.kind]}"`, `node |-> "${node}"`, `offer |-> ${offer}`];
    return `[${fields.join(', ')}, answer |-> "${answerOf(operation)}"]`;
  });
  const moments = operations.flatMap((operation, index) => {
    const { request, begin, end, answer } = operation;
    const isUse = request.kind === 'exchange' || request.kind === 'refresh';
    const begun = { time: begin, isEnd: 0, text: `<<"asked", ${index + 1}>>` };
    // An operation without a response may have had any result. No other operation depends on a
    // revocation that got 503.
    if (answer === 'lost' || (answer === 'unavailable' && !isUse)) return [begun];
    const name = isUse && answer === 200 ? numberOf(request.name) : 0;
    const text = `<<"answered", ${index + 1}, "${answerOf(operation)}", ${name}>>`;
    return [begun, { time: end, isEnd: 1, text }];
  });
  const events = moments.toSorted((one, other) => one.time - other.time || one.isEnd - other.isEnd);
  const texts = events.map(({ text }) => text);
  return `[names |-> ${names.size}, operations |-> <<${asked.join(', ')}>>,\n events |-> <<${texts.join(', ')}>>]`;
}
