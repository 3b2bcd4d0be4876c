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
   * Returns the response, for the client's current rights. Called after the store confirmed that
   * the tokens were issued. Throws if the server would refuse the request now.
   */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** Whether to forget the stored response if `answer` refuses the request. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** When the response was stored here, in milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/**
 * The maximum number of stored responses. Each further response replaces the oldest response. This
 * is enough: when the database fails, at most one response per database connection is lost.
 */
const MOST_KEPT = 1000;
/**
 * How long a response is stored, in milliseconds. The store keeps the rows of the tokens much
 * longer, for an hour.
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
   * The stored responses, oldest first. There can be several for one request, because a client may
   * repeat it before the first attempt fails.
   */
  readonly #kept = new Set<Kept>();

  /** `clock` returns the time in milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Stores the response, in case the client repeats this request. */
  keep(request: TokenRequest, answer: LostAnswer): void {
    this.#kept.add({ ...answer, key: getKey(request), since: this.#clock(), isAsked: false });
    this.#dropOld();
  }

  /**
   * Returns a function that answers this request, if a response is stored for it. Returns null for
   * any other request.
   *
   * The returned function first finds out whether the code or token was used. If it was not, the
   * function calls `otherwise`. The function rejects with the store's error while the store is not
   * available.
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
    // If another identical request is waiting for the response, refuse this request.
    const asked = this.#all(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = this.#all(key); entry !== undefined; [entry] = this.#all(key)) {
      const response = await this.#settleOne(entry, client);
      if (response === null) {
        this.#kept.delete(entry);
        continue;
      }
      // The code or token can be used only once, so the other attempts had no effect.
      for (const each of this.#all(key)) this.#kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /**
   * Returns the response. Returns null if the attempt had no effect and can no longer take effect.
   * After an error, keeps the entry unless `isSpentRefused` is true.
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
 * Returns a key for comparing requests. Requests have the same key if they have the same client,
 * parameters (in any order) and proved key. Ignores client assertions and the proof of the key,
 * because they differ in every request.
 */
function getKey({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
