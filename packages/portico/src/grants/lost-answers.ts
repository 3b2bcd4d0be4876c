import { tokenHash } from '../crypto.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';

export interface TokenRequest {
  readonly client: Client;
  readonly form: Parameters;
  /** Of the proved key; null for none. */
  readonly thumbprint: string | null;
}

export interface LostAnswer {
  readonly unsettled: UnsettledGrant;
  /**
   * The answer under the client's current rights. Called once the tokens are known to be issued;
   * refuses what would be refused now.
   */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** Whether a refusal removes the answer for good. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/**
 * The maximum; the oldest is dropped for a new one. A lost store loses as many statements as there
 * are connections.
 */
const MOST_KEPT = 1000;
/** In milliseconds. Far below the hour for which the store keeps its rows. */
const KEPT_FOR = 300_000;

/**
 * Answers of token requests that could not be delivered, because the store failed and it was
 * unknown whether it had spent the code or refresh token. Each answer is kept for the same,
 * unchanged request, and given once (decision 9).
 */
export class LostAnswers {
  readonly #clock: () => number;
  /**
   * In the order of time. One request may have several, because it may be sent again before it
   * fails.
   */
  readonly #kept = new Set<Kept>();

  /** `clock`: milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Keeps the answer for a repetition of this request. */
  keep(request: TokenRequest, answer: LostAnswer): void {
    this.#kept.add({ ...answer, key: getKey(request), since: this.#clock(), isAsked: false });
    this.#dropOld();
  }

  /**
   * Answers this request if the same one had no answer; null for any other. First finds out whether
   * the code or token is spent: if not, `otherwise` answers. Rejects with the store's error while
   * the store is away.
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
    // The same request came twice at once: one of them is answered.
    const asked = this.#all(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = this.#all(key); entry !== undefined; [entry] = this.#all(key)) {
      const response = await this.#settleOne(entry, client);
      if (response === null) {
        this.#kept.delete(entry);
        continue;
      }
      // A code or token is spent once, so none of the others took effect.
      for (const each of this.#all(key)) this.#kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /**
   * Null if it did not take effect, and never will. It stays while the question or its answer
   * fails.
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
 * Equal for requests of one client with the same parameters, in any order, and the same key. Client
 * authentication does not count, because each assertion is different, and so is each proof.
 */
function getKey({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
