/**
 * A history contains every operation of all clients on a server's authorizations, with its begin,
 * its end and its response. `checker.ts` decides whether an order of the operations explains it.
 * `workload.ts` creates a history over HTTP, and shows how to use both.
 */
import type { Answer, Request } from '../stateful/grants.ts';

/**
 * The operations on an authorization: those of the model of grants, and two that the person does in
 * a browser.
 */
export type Asked =
  | Request
  /** The person answers the consent screen. If the person allows the request, there is a code. */
  | { readonly kind: 'allow'; readonly family: string; readonly client: string }
  | { readonly kind: 'deny'; readonly family: string; readonly client: string }
  /** The person removes all of the client's access on the page of applications. */
  | { readonly kind: 'remove'; readonly client: string };

/**
 * How an operation ended. `unavailable` is a 503. `lost` means that no response arrived, because
 * the connection closed or the server failed. In both cases, the operation may or may not have
 * taken effect.
 */
export type Ending = Answer | 'unavailable' | 'lost';

/**
 * A recorded operation. It contains no secrets: codes and tokens have the names that the requests
 * give them.
 */
export interface Operation {
  /** The number of the operation. Numbers follow the order in which operations began. */
  readonly id: number;
  readonly request: Asked;
  /**
   * The authorizations that the operation affects. Removing a client's access affects all of its
   * authorizations.
   */
  readonly families: readonly string[];
  /** The process that got the request. */
  readonly node: string;
  /** How the client asked, such as `introspection`. */
  readonly by: string;
  /** The time in milliseconds. `begin` and `end` use the same clock, which never goes back. */
  readonly begin: number;
  /** When the whole response had arrived. Infinity until then. */
  readonly end: number;
  readonly answer: Ending;
}

export interface Recorder {
  /**
   * Records that an operation begins. Call it before you send the request. Call the returned
   * function when you have read the whole response, or with null if the request was not sent.
   * `known` is the name of tokens that an earlier response already contained.
   */
  begin(
    operation: Pick<Operation, 'request' | 'families' | 'node' | 'by'>,
  ): (answer: Ending | null, known?: string) => void;
  /** Returns all operations that have begun so far. */
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
