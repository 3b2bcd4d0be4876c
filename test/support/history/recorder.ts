/**
 * A history: every operation of a run on the authorizations of a server, from all clients and nodes, with its begin, its end and its
 * answer. `checker.ts` decides whether there is an order that explains it; `workload.ts` makes one over HTTP, and says how a scenario
 * uses all this.
 */
import type { Answer, Request } from '../stateful/grants.ts';

/** What is asked of an authorization: what the model of grants knows, and the two things that its person does in a browser. */
export type Asked =
  | Request
  /** Answers the consent screen. Allowed, there is a code. */
  | { readonly kind: 'allow'; readonly family: string; readonly client: string }
  | { readonly kind: 'deny'; readonly family: string; readonly client: string }
  /** Takes back, on the page of applications, whatever the client was allowed. */
  | { readonly kind: 'remove'; readonly client: string };

/**
 * The answer; `unavailable` is a 503, `lost` that no answer arrived: the connection was cut off, or what came was a fault of the
 * server. Whether either took effect is not known.
 */
export type Ending = Answer | 'unavailable' | 'lost';

/** Secrets have no place here: codes and tokens go by the names that the requests give them. */
export interface Operation {
  /** In the order in which they began. */
  readonly id: number;
  readonly request: Asked;
  /** Those that it is about. Taking back a client's access is about all that it has. */
  readonly families: readonly string[];
  /** The process that was asked. */
  readonly node: string;
  /** How it was asked, such as `introspection`. */
  readonly by: string;
  /** Milliseconds of one clock that never goes back, as `end`. */
  readonly begin: number;
  /** When the whole answer was there; infinite while it is awaited. */
  readonly end: number;
  readonly answer: Ending;
}

export interface Recorder {
  /**
   * To be called before anything is sent; what it returns, when the answer was read to its end, or with null when nothing was sent after
   * all (nobody listened). Tokens that were answered before have a name already, which is `known`.
   */
  begin(
    operation: Pick<Operation, 'request' | 'families' | 'node' | 'by'>,
  ): (answer: Ending | null, known?: string) => void;
  /** What has begun so far. */
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
        const named = known !== undefined && 'name' in request ? { ...request, name: known } : request;
        if (answer === null) operations.delete(id);
        else operations.set(id, { ...begun, request: named, end: clock(), answer });
      };
    },
    operations: () => [...operations.values()],
  };
}
