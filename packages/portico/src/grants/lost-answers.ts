import { tokenHash } from '../crypto.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { UnsettledGrant } from '../store/grant.ts';
import type { TokenResponse } from './grant.ts';

/**
 * The answers that token requests could not get, because the store failed and it was unknown whether it had spent the code or
 * refresh token. Each answer is kept for the same request, unchanged, and given once (decision 9).
 */
export interface LostAnswers {
  /** Keeps the answer to this request until it comes again. */
  keep(request: TokenRequest, answer: LostAnswer): void;
  /**
   * What answers this request, when the same one stayed unanswered; null for every other. It settles first whether what was offered
   * is spent: if it is not, `otherwise` answers. While the store is away it rejects with what the store failed with.
   */
  find(
    client: Client,
    form: Parameters,
    thumbprint: string | null,
  ): ((otherwise: () => Promise<TokenResponse>) => Promise<TokenResponse>) | null;
}

export interface TokenRequest {
  readonly client: Client;
  readonly form: Parameters;
  /** Of the key that was proved; null for none. */
  readonly thumbprint: string | null;
}

export interface LostAnswer {
  readonly unsettled: UnsettledGrant;
  /** The answer to the client as it is now. It is called once the tokens were issued, and refuses what would be refused now. */
  readonly answer: (client: Client) => Promise<TokenResponse>;
  /** Whether there is no answer any more once it was refused. */
  readonly isSpentRefused: boolean;
}

interface Kept extends LostAnswer {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/** At most; the oldest goes for the next. As many statements as there are connections are lost with a store. */
const MOST_KEPT = 1000;
/** In milliseconds. Far below the hour that the store's rows stay for. */
const KEPT_FOR = 300_000;

/** `clock` tells milliseconds since 1970. */
export function createLostAnswers(clock: () => number): LostAnswers {
  /** In the order of time. One request may have several: it may be sent again before it fails. */
  const kept = new Set<Kept>();

  function drop(): void {
    const before = clock() - KEPT_FOR;
    for (const entry of kept) {
      if (entry.since > before && kept.size <= MOST_KEPT) return;
      kept.delete(entry);
    }
  }

  const allOf = (key: string) => [...kept].filter((entry) => entry.key === key);

  async function settle(
    key: string,
    client: Client,
    otherwise: () => Promise<TokenResponse>,
  ): Promise<TokenResponse> {
    // The same request twice at once: one of them is answered.
    const asked = allOf(key).find(({ isAsked }) => isAsked);
    if (asked !== undefined) throw asked.unsettled.error;
    for (let [entry] = allOf(key); entry !== undefined; [entry] = allOf(key)) {
      const response = await settleOne(entry, client);
      if (response === null) {
        kept.delete(entry);
        continue;
      }
      // What was offered is spent once: none of the others took effect.
      for (const each of allOf(key)) kept.delete(each);
      return response;
    }
    return otherwise();
  }

  /** Null when it did not take effect, and never will. It stays as long as the question or its answer fails. */
  async function settleOne(entry: Kept, client: Client): Promise<TokenResponse | null> {
    entry.isAsked = true;
    try {
      return (await entry.unsettled.settle()) ? await entry.answer(client) : null;
    } catch (error) {
      if (entry.isSpentRefused && error instanceof OAuthError) kept.delete(entry);
      throw error;
    } finally {
      entry.isAsked = false;
    }
  }

  return {
    keep(request, answer) {
      kept.add({ ...answer, key: keyOf(request), since: clock(), isAsked: false });
      drop();
    },
    find(client, form, thumbprint) {
      if (kept.size === 0) return null;
      drop();
      const key = keyOf({ client, form, thumbprint });
      return allOf(key).length === 0 ? null : (otherwise) => settle(key, client, otherwise);
    },
  };
}

/**
 * The same for requests of one client with the same parameters, in any order, and the same key. Client authentication does not count:
 * an assertion differs each time, as a proof does.
 */
function keyOf({ client: { id }, form, thumbprint }: TokenRequest): string {
  const asked = [...form.values].filter(([name]) => name !== 'client_assertion');
  const parameters = asked.sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters, thumbprint]));
}
