import { OAuthError } from '../errors.ts';
import { isBearerRequest } from '../http/bearer.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';

/**
 * Rejects requests with an access token: consent needs a browser session, which they never have.
 * `place` is what takes no token, for the message.
 */
export function refuseBearer(request: Request, binding: KeyBinding | null, place: string): void {
  if (isBearerRequest(request, binding === null ? [] : [binding.offer.scheme]))
    throw new OAuthError('invalid_request', `${place} takes no access token.`);
}
