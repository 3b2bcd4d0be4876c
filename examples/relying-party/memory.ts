import { randomBytes } from 'node:crypto';
import type { PendingSignIn, Tokens } from './portal.ts';

/** What this application remembers of a visitor, from one step to the next. */
export interface Visit {
  /** A sign-in that waits for its callback. */
  pending: PendingSignIn | null;
  tokens: Tokens | null;
  /** Under way: a refresh token is good for one use, so two requests at once share it. */
  refreshing: Promise<Tokens> | null;
  /** Said once, on the next page. */
  notice: string | null;
}

/** Visits in memory, the oldest forgotten first: an example, gone with the process. */
export function createMemory(most = 1000) {
  const visits = new Map<string, Visit>();
  return {
    /** Starts a visit; its id is the secret that a cookie carries. */
    start(first: Partial<Visit>): string {
      const oldest = visits.keys().next().value;
      if (visits.size >= most && oldest !== undefined) visits.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      visits.set(id, { pending: null, tokens: null, refreshing: null, notice: null, ...first });
      return id;
    },
    recall: (id: string | undefined): Visit | null => visits.get(id ?? '') ?? null,
    forget: (id: string | undefined): boolean => visits.delete(id ?? ''),
  };
}
