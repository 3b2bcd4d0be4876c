import { randomBytes } from 'node:crypto';
import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';

/** What this application remembers of a visitor. */
export interface Visit {
  /** A sign-in that waits for its callback. */
  readonly pending?: { readonly codeVerifier: string; readonly state: string; readonly nonce: string };
  readonly tokens?: Pick<TokenEndpointResponse, 'access_token' | 'refresh_token' | 'scope'> &
    Pick<TokenEndpointResponseHelpers, 'claims'>;
  /** Said once, on the next page. */
  readonly notice?: string;
}

/** Visits in memory, the oldest forgotten first: an example, gone with the process. */
export function createMemory(most = 1000) {
  const visits = new Map<string, Visit>();
  return {
    /** Keeps a visit under a new id. */
    keep(visit: Visit): string {
      const oldest = visits.keys().next().value;
      if (visits.size >= most && oldest !== undefined) visits.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      visits.set(id, visit);
      return id;
    },
    recall: (id: string | undefined): Visit | undefined => (id === undefined ? undefined : visits.get(id)),
    forget(id: string | undefined): void {
      if (id !== undefined) visits.delete(id);
    },
  };
}
