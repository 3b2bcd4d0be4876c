/**
 * A behaviour of tools/model/Traces.tla. It contains the actions, each with its request and the
 * resulting state.
 */
export interface Trace {
  readonly start: 'code' | 'token';
  readonly window: boolean;
  readonly steps: readonly TraceStep[];
}

export interface TraceStep {
  readonly does: string;
  /** The number of the request. */
  readonly request: number;
  /** For a request that begins: its node, what it presents (0 is the code), and its client. */
  readonly about: readonly (string | number)[];
  /** The place of the request after the step. */
  readonly at: string;
  /** The tokens in the request's response, if it has any. */
  readonly token: number;
  /** The access tokens that are valid after the step. */
  readonly good: readonly number[];
}

type Written = readonly [
  string,
  number,
  readonly (string | number)[],
  string,
  number,
  readonly number[],
];

/** Returns the steps that TLC printed. It reads TLC's sequences, sets and names as JSON. */
export function stepsOf(printed: string): readonly TraceStep[] {
  const json = printed
    .replaceAll(/<<|\{/g, '[')
    .replaceAll(/>>|\}/g, ']')
    .replaceAll(/\bn\d+\b/g, (name) => JSON.stringify(name));
  const [, steps] = JSON.parse(json) as readonly [string, readonly Written[]];
  return steps.map(([does, request, about, at, token, good]) => ({
    does,
    request,
    about,
    at,
    token,
    good,
  }));
}
