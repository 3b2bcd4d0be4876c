import type { OAuthError } from '../errors.ts';
import type { Client } from '../store/client.ts';
import type { AskedMode, ReturnAddress } from './response-modes.ts';

/** The response that goes to the redirect URI (RFC 6749 sections 4.1.2 and 4.1.2.1). */
export interface AuthorizationResponse extends ReturnAddress, AskedMode {
  readonly client: Client;
  readonly result: { readonly code: string } | { readonly error: OAuthError };
}

export function responseTo(
  { redirectUri, state, responseMode }: ReturnAddress & AskedMode,
  client: Client,
  result: AuthorizationResponse['result'],
): AuthorizationResponse {
  return {
    client,
    redirectUri,
    state,
    ...(responseMode === undefined ? {} : { responseMode }),
    result,
  };
}

/** Returns the parameters of the response, including `iss` (RFC 9207). */
export function responseParameters(
  { state, result }: Omit<AuthorizationResponse, 'client'>,
  issuer: string,
): Readonly<Record<string, string>> {
  const outcome =
    'code' in result
      ? { code: result.code }
      : { error: result.error.code, error_description: result.error.message };
  return { ...outcome, ...(state === null ? {} : { state }), iss: issuer };
}
