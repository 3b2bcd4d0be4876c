import { randomBytes } from 'node:crypto';
import type { PendingSignIn, Tokens } from './portal.ts';

/** What this application remembers about a visitor between two requests. */
export interface Visit {
  /** The sign-in that waits for its callback, or null. */
  pending: PendingSignIn | null;
  tokens: Tokens | null;
  /**
   * The refresh that is running, or null. A refresh token works only once, so two requests at the
   * same time share it.
   */
  refreshing: Promise<Tokens> | null;
  /** A text that the next page shows once. */
  notice: string | null;
}

/**
 * Keeps visits in memory. If there are more than `most`, it forgets the oldest visit. All visits
 * are lost when the process ends, which is good enough for an example.
 */
export function createMemory(most = 1000) {
  const visits = new Map<string, Visit>();
  return {
    /** Starts a visit and returns its id. The id is a secret and is stored in a cookie. */
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
