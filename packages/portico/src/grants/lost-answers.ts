import { tokenHash } from '../crypto.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';

export interface TokenRequest {
  readonly client: Client;
  readonly form: Parameters;
  /** The thumbprint of the proved key, or null. */
  readonly thumbprint: string | null;
}

export interface LostAnswer {
  readonly unsettled: UnsettledGrant;
  /**
   * Returns the response with the client's current rights. Called after the tokens are known to be
   * issued. Throws if the server would now refuse the request.
   */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** True to delete the stored response if `answer` refuses the request. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/**
 * Above this number, a new response replaces the oldest. A database failure loses at most one
 * response per database connection.
 */
const MOST_KEPT = 1000;
/** In milliseconds. The rows of the tokens stay longer in the database: for an hour. */
const KEPT_FOR = 300_000;

/**
 * Stores token responses that could not be sent: the store failed before it confirmed the use of
 * the code or refresh token. Returns each response once, and only to an identical request (decision
 * 9).
 */
export class LostAnswers {
  readonly #clock: () => number;
  /**
   * Oldest first. A client may repeat a request before its first attempt fails, so one request can
   * have several responses.
   */
  readonly #kept = new Set<Kept>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  keep(request: TokenRequest, answer: LostAnswer): void {
    this.#kept.add({ ...answer, key: getKey(request), since: this.#clock(), isAsked: false });
    this.#dropOld();
  }

  /**
   * Returns null if no response is stored for this request. Otherwise returns a function for the
   * stored response.
   *
   * The function first finds out whether the code or token was used. If it was not, calls
   * `otherwise`. Rejects with the store's error while the store is unavailable.
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
    // Another identical request is already waiting for the response.
    const asked = this.#all(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = this.#all(key); entry !== undefined; [entry] = this.#all(key)) {
      const response = await this.#settleOne(entry, client);
      if (response === null) {
        this.#kept.delete(entry);
        continue;
      }
      // Only one attempt can have used the code or token.
      for (const each of this.#all(key)) this.#kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /**
   * Returns the response, or null if the attempt had no effect and can have none later. After an
   * error, keeps the response. Exception: the server refused the request, and `isSpentRefused` is
   * true.
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
 * Identical requests have the same client, parameters (in any order) and proved key. Client
 * assertions and DPoP proofs do not count: they differ in every request.
 */
function getKey({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
