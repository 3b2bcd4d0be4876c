import { tokenHash } from '../crypto.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';

export interface TokenRequest {
  readonly client: Client;
  readonly form: Parameters;
  /** The thumbprint of the key that the request proved. Null if the request proved no key. */
  readonly thumbprint: string | null;
}

export interface LostAnswer {
  readonly unsettled: UnsettledGrant;
  /**
   * Returns the response, adjusted to the client's current rights. Called once it is certain that
   * the store issued the tokens. Throws if the server would now reject the request.
   */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** Whether to delete the stored response if `answer` rejects the request. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** When this object stored the response, in milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/**
 * The maximum number of stored responses. Above it, a new response replaces the oldest. The limit
 * is high enough, because a database failure loses at most one response per database connection.
 */
const MOST_KEPT = 1000;
/**
 * How long a response is stored, in milliseconds. During this time, the rows of its tokens still
 * exist, because they stay in the database for an hour.
 */
const KEPT_FOR = 300_000;

/**
 * Stores token responses that the server could not send: the store failed before it confirmed that
 * the authorization code or refresh token was used. Returns each response once, and only to an
 * identical request (decision 9).
 */
export class LostAnswers {
  readonly #clock: () => number;
  /**
   * The stored responses, oldest first. One request can have several responses, because a client
   * may repeat a request before its first attempt fails.
   */
  readonly #kept = new Set<Kept>();

  /** `clock` returns the time in milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Stores the response in case the client repeats this request. */
  keep(request: TokenRequest, answer: LostAnswer): void {
    this.#kept.add({ ...answer, key: getKey(request), since: this.#clock(), isAsked: false });
    this.#dropOld();
  }

  /**
   * Returns null if no response is stored for this request. Otherwise, returns a function that
   * returns the stored response.
   *
   * That function first finds out whether the code or token was used. If not, it calls `otherwise`.
   * While the store is unavailable, it rejects with the store's error.
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
    // Reject this request if another identical request is already waiting for the response.
    const asked = this.#all(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = this.#all(key); entry !== undefined; [entry] = this.#all(key)) {
      const response = await this.#settleOne(entry, client);
      if (response === null) {
        this.#kept.delete(entry);
        continue;
      }
      // Only one attempt can have used the code or token. The other attempts had no effect.
      for (const each of this.#all(key)) this.#kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /**
   * Returns the response, or null if the attempt had no effect and can no longer have one. After an
   * error, keeps the stored response, unless the server has rejected the request and
   * `isSpentRefused` is true.
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
 * Returns a key that identifies identical requests: same client, same parameters in any order, and
 * same proved key. Ignores client assertions and DPoP proofs, because they differ in every request.
 */
function getKey({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
