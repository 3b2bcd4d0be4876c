import { OAuthError } from '../errors.ts';
import { quotedList } from '../quoting.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';

/**
 * Returns the response for a person who may grant none of the requested scopes. Like the others
 * here, it is `access_denied` (RFC 6749 section 4.1.2.1).
 */
export function nothingHeld(request: AuthorizationRequest, client: Client): AuthorizationResponse {
  return denied(
    request,
    client,
    'The person holds no permission that the scopes ask for.',
    noPermission(request),
  );
}

/**
 * Returns the response for a person who denied the request. Also for a person who selected no
 * scope, or who may no longer grant any.
 */
export function notAllowed(
  request: ConsentRequest,
  client: Client,
  allow: boolean,
): AuthorizationResponse {
  const none = request.choices === undefined ? noPermission(request) : NOTHING_CHOSEN;
  const detail = allow ? none : 'the person denied the request';
  return denied(request, client, 'The person did not allow it.', detail);
}

/** Returns the response for a person who allows a request again after the code was used. */
export function codeUsed(request: AuthorizationRequest, client: Client): AuthorizationResponse {
  return denied(
    request,
    client,
    CODE_USED,
    'the person allowed the request again, but its authorization code was already used',
  );
}

const NOTHING_CHOSEN =
  'the person selected no scope, or does not have the permission for any selected scope';

const CODE_USED = 'The person has allowed this request before, and its code was used.';

function noPermission({ scopes }: AuthorizationRequest): string {
  return `the person has no permission for the requested scopes: ${quotedList(scopes)}`;
}

function denied(
  request: AuthorizationRequest,
  client: Client,
  description: string,
  detail: string,
): AuthorizationResponse {
  const error = new OAuthError('access_denied', description, detail);
  return responseTo(request, client, { error });
}
