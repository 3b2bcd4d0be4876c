import { GuardedRequests } from '../../http/outbound/guarded-request.ts';
import { OutboundError, OutboundLimits } from '../../http/outbound/limits.ts';
import { missingKey } from '../../keys/algorithms.ts';
import type { Deliver, DeliveryResult } from '../../outbox/message.ts';
import type { Server } from '../../server.ts';
import { hasExpired } from '../../store/client-expiry.ts';
import type { Client } from '../../store/client.ts';
import { signLogoutToken } from './logout-token.ts';
import { LOGOUT_URI } from './metadata.ts';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' } as const;
/** Statuses that mean a temporary problem. The server sends the token again later. */
const MAY_PASS: ReadonlySet<number> = new Set([408, 429]);

/**
 * The limits for tokens that a process sends to one host: at the same time and per minute. An
 * application can register many clients on one host. Further tokens are sent later.
 */
const TO_ONE_HOST = { atOnce: 8, inAMinute: 600 } as const;

/**
 * The outbox message to one client. The server signs the logout token when it delivers the message.
 */
export interface LogoutMessage {
  readonly subject: string;
  readonly sid: string;
}

/**
 * Returns a function that sends logout tokens (section 2.5). Sends nothing to a client that is
 * revoked, has expired or has no logout URI any more.
 */
export function createLogoutDelivery(server: Server): Deliver {
  const requests = new GuardedRequests(server.fetching);
  const limits = new OutboundLimits(server.clock);
  return async ({ receiver, payload }, signal) => {
    const client = await server.store.clients.findClient(receiver);
    const { [LOGOUT_URI]: [uri] = [] } = await server.furtherMetadata.find(receiver);
    const isGone =
      client === null || client.revokedAt !== null || hasExpired(client, server.clock());
    if (isGone || uri === undefined) return { outcome: 'obsolete' };
    const to = new URL(uri);
    try {
      return await limits.withinHost(to, TO_ONE_HOST, async () => {
        const token = await tokenFor(server, client, JSON.parse(payload) as LogoutMessage);
        if (typeof token !== 'string') return token;
        const body = new URLSearchParams({ logout_token: token }).toString();
        const message = { headers: FORM, body, signal };
        return requests.send(to, message, ({ statusCode }) => resultOf(statusCode));
      });
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // If `retryAfter` is set, the limit for the host is reached. All other tokens for this client
      // must then wait too.
      const isLimit = error.retryAfter !== null;
      return { outcome: isLimit ? 'failed' : 'postponed', reason: error.message };
    }
  };
}

/** The client's ID tokens use the same key. */
async function tokenFor(
  { keys, issuer, clock }: Server,
  { id: clientId, idTokenSignedResponseAlg: algorithm }: Client,
  { subject, sid }: LogoutMessage,
): Promise<string | DeliveryResult> {
  const key = await keys.active(algorithm);
  if (key === null)
    return { outcome: 'postponed', reason: `there is ${missingKey(algorithm).key}` };
  return signLogoutToken(key, { issuer, clientId, subject, sid, issuedAt: clock() });
}

/**
 * Returns the result for an HTTP status. The server ignores the body (section 2.8). A failed
 * delivery does not delay messages about other sign-outs, because their order does not matter.
 */
function resultOf(status: number | undefined): DeliveryResult {
  if (status === 200 || status === 204) return { outcome: 'delivered' };
  const isFinal = status !== undefined && status >= 400 && status < 500 && !MAY_PASS.has(status);
  return {
    outcome: isFinal ? 'refused' : 'postponed',
    reason: `the client responded to the logout token with the status ${status}`,
  };
}
