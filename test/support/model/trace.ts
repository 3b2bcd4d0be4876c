/**
 * A behaviour of tools/model/Traces.tla: the actions, with their request, and the resulting states.
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
  /** Of a beginning request: its node, what it presents (0: the code), and its client. */
  readonly about: readonly (string | number)[];
  /** Where the request is afterwards. */
  readonly at: string;
  /** The tokens in its answer, if any. */
  readonly token: number;
  /** The access tokens that are valid then. */
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

/** The steps that TLC printed: its sequences, sets and names as JSON. */
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
