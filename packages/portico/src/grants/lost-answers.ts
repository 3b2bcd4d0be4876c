import { tokenHash } from '../crypto.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';

export interface TokenRequest {
  readonly client: Client;
  readonly form: Parameters;
  /** The thumbprint of the proved key. Null if the request proved no key. */
  readonly thumbprint: string | null;
}

export interface LostAnswer {
  readonly unsettled: UnsettledGrant;
  /**
   * Returns the response, for the client's current rights. Called when it is certain that the store
   * issued the tokens. Throws if the server would now refuse the request.
   */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** Whether to delete the stored response if `answer` refuses the request. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** When the response was stored here, in milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/**
 * The maximum number of stored responses. A further response replaces the oldest. The number is
 * high enough, because a database failure loses at most one response for each database connection.
 */
const MOST_KEPT = 1000;
/**
 * How long a response is stored, in milliseconds. The rows of its tokens stay in the database for
 * an hour, so they still exist then.
 */
const KEPT_FOR = 300_000;

/**
 * Stores token responses that the server could not send, because the store failed before it
 * confirmed that the authorization code or refresh token was used. Returns each response once, and
 * only to an identical request (decision 9).
 */
export class LostAnswers {
  readonly #clock: () => number;
  /**
   * The stored responses, oldest first. A client may repeat a request before its first attempt
   * fails, so one request can have several.
   */
  readonly #kept = new Set<Kept>();

  /** `clock` returns the time in milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Stores the response for the case that the client repeats this request. */
  keep(request: TokenRequest, answer: LostAnswer): void {
    this.#kept.add({ ...answer, key: getKey(request), since: this.#clock(), isAsked: false });
    this.#dropOld();
  }

  /**
   * If a response is stored for this request, returns a function that returns it. For any other
   * request, returns null.
   *
   * The returned function first finds out whether the code or token was used. If it was not used,
   * the function calls `otherwise`. While the store is unavailable, the function rejects with the
   * store's error.
   */
  find(
    client: Client,
    form: Parameters,
    thumbprint: string | null,
  ): ((otherwise: () => Promise<TokenResponse>) => Promise<TokenResponse>) | null {
    if (this.#kept.size === 0) return null;
    this.#dropOld();
    const key = getKey({ client, form, thumbprint });
    return this.#all(key).length === 0 ? null : (otherwise) => this.#settle(key, client, otherwise);
  }

  #dropOld(): void {
    const before = this.#clock() - KEPT_FOR;
    for (const entry of this.#kept) {
      if (entry.since > before && this.#kept.size <= MOST_KEPT) return;
      this.#kept.delete(entry);
    }
  }

  #all(key: string): readonly Kept[] {
    return [...this.#kept].filter((entry) => entry.key === key);
  }

  async #settle(
    key: string,
    client: Client,
    otherwise: () => Promise<TokenResponse>,
  ): Promise<TokenResponse> {
    // If another identical request already waits for the response, refuse this one.
    const asked = this.#all(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = this.#all(key); entry !== undefined; [entry] = this.#all(key)) {
      const response = await this.#settleOne(entry, client);
      if (response === null) {
        this.#kept.delete(entry);
        continue;
      }
      // Only one attempt can have used the code or token, so the others had no effect.
      for (const each of this.#all(key)) this.#kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /**
   * Returns the response. Returns null if the attempt had no effect and can no longer have one. If
   * it throws, keeps the response, unless `isSpentRefused` is true.
   */
  async #settleOne(entry: Kept, client: Client): Promise<TokenResponse | null> {
    entry.isAsked = true;
    try {
      return (await entry.unsettled.settle()) ? await entry.answer(client) : null;
    } catch (error) {
      if (entry.isSpentRefused && error instanceof OAuthError) this.#kept.delete(entry);
      throw error;
    } finally {
      entry.isAsked = false;
    }
  }
}

/**
 * Returns a key for comparing requests. Two requests have the same key if their client, their
 * parameters (in any order) and their proved key are the same. Client assertions and proofs are
 * ignored, because they differ in every request.
 */
function getKey({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
