/** A behaviour of tools/model/Traces.tla: what was done, by or to which request, and what is then. */
export interface Trace {
  readonly start: 'code' | 'token';
  readonly window: boolean;
  readonly steps: readonly TraceStep[];
}

export interface TraceStep {
  readonly does: string;
  /** The number of the request. */
  readonly request: number;
  /** Of a request that begins: its node, what it offers (0: the code), and who offers it. */
  readonly about: readonly (string | number)[];
  /** Where the request is then. */
  readonly at: string;
  /** The tokens that it was answered with, if it was. */
  readonly token: number;
  /** The access tokens that are good then. */
  readonly good: readonly number[];
}

type Written = readonly [string, number, readonly (string | number)[], string, number, readonly number[]];

/** The steps that TLC printed: its sequences, sets and names as those of JSON. */
export function stepsOf(printed: string): readonly TraceStep[] {
  const json = printed
    .replaceAll(/<<|\{/g, '[')
    .replaceAll(/>>|\}/g, ']')
    .replaceAll(/\bn\d+\b/g, (name) => JSON.stringify(name));
  const [, steps] = JSON.parse(json) as readonly [string, readonly Written[]];
  return steps.map(([does, request, about, at, token, good]) => ({ does, request, about, at, token, good }));
}
