import type { Lifetimes } from '../stateful/grants.ts';
import {
  findViolations,
  PROMISES,
  type AfterUnavailable,
  type Promised,
  type Violation,
} from './checker.ts';
import type { Ending, Operation } from './recorder.ts';

export interface Verdict {
  /** How many times each promise was broken. */
  readonly broken: Readonly<Record<Promised, number>>;
  /**
   * A readable text for each violation, with the operations that no order explains. Use it with
   * `expect(texts).toEqual([])`.
   */
  readonly texts: readonly string[];
  /** A line with all counts. */
  readonly line: string;
}

export function judge(
  history: readonly Operation[],
  afterUnavailable: AfterUnavailable = 'not spent',
  lifetimes?: Lifetimes,
): Verdict {
  const violations = findViolations(history, afterUnavailable, lifetimes);
  const broken = Object.fromEntries(
    PROMISES.map((promise) => [
      promise,
      violations.filter((each) => each.broken === promise).length,
    ]),
  ) as Record<Promised, number>;
  const families = new Set(history.flatMap((each) => each.families)).size;
  const ended = (ending: Ending) => history.filter(({ answer }) => answer === ending).length;
  return {
    broken,
    texts: violations.map(textOf),
    line:
      `${history.length} operations on ${families} authorizations, ${ended('unavailable')} answered 503, ` +
      `${ended('lost')} without an answer; ${PROMISES.map((promise) => `${promise}: ${broken[promise]}`).join(', ')}`,
  };
}

/** Describes a violation. Times are in milliseconds since the first of these operations began. */
export function textOf({ family, broken, operations, last, others }: Violation): string {
  const zero = Math.min(...operations.map(({ begin }) => begin));
  const time = (at: number) => (at - zero).toFixed(1).padStart(10);
  const lines = operations.map((each) => {
    const { node, by, begin, end } = each;
    const mark = each === last ? '>' : ' ';
    return `${mark}${time(begin)} to${time(end)}  ${node.padEnd(8)} ${by.padEnd(14)} ${askedOf(each).padEnd(26)} ${answerOf(each)}`;
  });
  return [
    `${family}: ${broken}. No order explains these answers (${others} other operations leave it so):`,
    ...lines,
  ].join('\n');
}

function askedOf({ request }: Operation): string {
  switch (request.kind) {
    case 'allow':
    case 'deny':
      return request.kind;
    case 'exchange':
      return 'exchange the code';
    case 'refresh':
      return `refresh with R${request.token}`;
    case 'revoke':
      return `revoke R${request.token}`;
    case 'revoke access':
      return `revoke T${request.token}`;
    case 'look':
      return `is T${request.token} good?`;
    case 'remove':
      return "take back the client's access";
    case 'revoke client':
      break;
  }
  return 'revoke the client';
}

function answerOf({ request, answer }: Operation): string {
  const isIssuing = request.kind === 'exchange' || request.kind === 'refresh';
  return isIssuing && answer === 200 ? `T${request.name} and R${request.name}` : String(answer);
}
