/**
 * A history: every operation of a run on the authorizations of a server, from all clients and
 * nodes, with its begin, its end and its answer. `checker.ts` decides whether an order explains it;
 * `workload.ts` makes one over HTTP, and shows how a scenario uses all this.
 */
import type { Answer, Request } from '../stateful/grants.ts';

/**
 * The operations on an authorization: those of the model of grants, and the two that its person
 * does in a browser.
 */
export type Asked =
  | Request
  /** Answers the consent screen. If allowed, there is a code. */
  | { readonly kind: 'allow'; readonly family: string; readonly client: string }
  | { readonly kind: 'deny'; readonly family: string; readonly client: string }
  /** Revokes, on the page of applications, everything that the client was allowed. */
  | { readonly kind: 'remove'; readonly client: string };

/**
 * The answer; `unavailable` is a 503, `lost` means that no answer arrived: a closed connection or a
 * server error. Whether either took effect is unknown.
 */
export type Ending = Answer | 'unavailable' | 'lost';

/** Contains no secrets: codes and tokens have the names that the requests give them. */
export interface Operation {
  /** In the order in which they began. */
  readonly id: number;
  readonly request: Asked;
  /** The authorizations concerned. A revocation of a client's access concerns all that it has. */
  readonly families: readonly string[];
  /** The process that was asked. */
  readonly node: string;
  /** The way of asking, such as `introspection`. */
  readonly by: string;
  /** Milliseconds of one clock that never goes back, like `end`. */
  readonly begin: number;
  /** When the whole answer had arrived; infinite while it is awaited. */
  readonly end: number;
  readonly answer: Ending;
}

export interface Recorder {
  /**
   * Call it before anything is sent; call its result when the answer was read to its end, or with
   * null if nothing was sent. Tokens that were answered before already have a name, which is
   * `known`.
   */
  begin(
    operation: Pick<Operation, 'request' | 'families' | 'node' | 'by'>,
  ): (answer: Ending | null, known?: string) => void;
  /** Everything that has begun so far. */
  operations(): readonly Operation[];
}

export function createRecorder(clock: () => number = () => performance.now()): Recorder {
  const operations = new Map<number, Operation>();
  let count = 0;
  return {
    begin(asked) {
      const id = (count += 1);
      const begun: Operation = { ...asked, id, begin: clock(), end: Infinity, answer: 'lost' };
      operations.set(id, begun);
      return (answer, known) => {
        const { request } = asked;
        const named =
          known !== undefined && 'name' in request ? { ...request, name: known } : request;
        if (answer === null) operations.delete(id);
        else operations.set(id, { ...begun, request: named, end: clock(), answer });
      };
    },
    operations: () => [...operations.values()],
  };
}
