import { tokenHash } from '../crypto.ts';
import type { Parameters } from '../parameters.ts';
import type { Client, UnsettledGrant } from '../store/store.ts';
import type { TokenResponse } from './grant.ts';

/**
 * The answers that token requests could not be given, since the store stayed away and nobody knew whether it had spent what they
 * offered. Each is kept for the request that comes again with nothing changed, and given once (decision 9).
 */
export interface Unanswered {
  /** Keeps the answer to this request until it comes again. */
  keep(
    client: Client,
    form: Parameters,
    unsettled: UnsettledGrant,
    answer: () => Promise<TokenResponse>,
  ): void;
  /**
   * What answers this request, when the same one stayed unanswered; null for every other. It settles first whether what was offered
   * is spent: if it is not, `otherwise` answers. While the store is away it rejects with what the store failed with.
   */
  find(
    client: Client,
    form: Parameters,
  ): ((otherwise: () => Promise<TokenResponse>) => Promise<TokenResponse>) | null;
}

interface Kept {
  readonly unsettled: UnsettledGrant;
  readonly answer: () => Promise<TokenResponse>;
  /** Milliseconds since 1970. */
  readonly since: number;
  isAsked: boolean;
}

/** At most; the oldest goes for the next. As many statements as there are connections are lost with a store. */
const MOST_KEPT = 1000;
/** In milliseconds. Far below the hour that the store's rows stay for. */
const KEPT_FOR = 300_000;

/** `clock` tells milliseconds since 1970. */
export function createUnanswered(clock: () => number): Unanswered {
  const kept = new Map<string, Kept>();

  function drop(): void {
    const before = clock() - KEPT_FOR;
    for (const [key, { since }] of kept) {
      if (since > before && kept.size <= MOST_KEPT) return;
      kept.delete(key);
    }
  }

  async function settle(
    key: string,
    entry: Kept,
    otherwise: () => Promise<TokenResponse>,
  ): Promise<TokenResponse> {
    // The same request twice at once: one of them is answered.
    if (entry.isAsked) throw entry.unsettled.error;
    entry.isAsked = true;
    let isIssued: boolean;
    try {
      isIssued = await entry.unsettled.settle();
    } finally {
      entry.isAsked = false;
    }
    kept.delete(key);
    if (!isIssued) return otherwise();
    const response = await entry.answer();
    const passed = Math.ceil((clock() - entry.since) / 1000);
    return { ...response, expires_in: Math.max(0, response.expires_in - passed) };
  }

  return {
    keep(client, form, unsettled, answer) {
      kept.set(keyOf(client, form), { unsettled, answer, since: clock(), isAsked: false });
      drop();
    },
    find(client, form) {
      if (kept.size === 0) return null;
      drop();
      const key = keyOf(client, form);
      const entry = kept.get(key);
      return entry === undefined ? null : (otherwise) => settle(key, entry, otherwise);
    },
  };
}

/** The same for requests of one client with the same parameters, in whatever order. */
function keyOf({ id }: Client, form: Parameters): string {
  const parameters = [...form.values].sort(([one], [other]) => (one < other ? -1 : 1));
  return tokenHash(JSON.stringify([id, parameters]));
}
