import type { ClientDemands } from '../../store/client-demands.ts';
import { OAuthError } from '../../errors.ts';

/**
 * Returns an error if the client had to push its request but did not (RFC 9126 sections 5 and 6). A
 * registration that requires pushed requests counts even if the server does not accept them.
 */
export function refuseUnpushed(
  { pushesRequests }: ClientDemands,
  allArePushed: boolean,
): OAuthError | null {
  const reason = pushesRequests
    ? 'the client is registered to push its requests, and did not push this one'
    : allArePushed
      ? 'oauth_server:pushed_authorization_requests is require, but the request was not pushed'
      : null;
  return reason === null
    ? null
    : new OAuthError('invalid_request', 'The request has to be pushed first (RFC 9126).', reason);
}
