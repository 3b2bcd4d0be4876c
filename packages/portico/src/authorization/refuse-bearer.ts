import { OAuthError } from '../errors.ts';
import { isBearerRequest } from '../http/bearer.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';

/**
 * Throws if the request contains an access token: consent needs a browser session. The error
 * message names `place`, a page or an endpoint.
 */
export function refuseBearer(request: Request, binding: KeyBinding | null, place: string): void {
  if (isBearerRequest(request, binding === null ? [] : [binding.offer.scheme]))
    throw new OAuthError('invalid_request', `${place} takes no access token.`);
}
