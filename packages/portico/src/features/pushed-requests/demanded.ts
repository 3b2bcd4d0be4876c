import type { ClientDemands } from '../../store/client-demands.ts';
import { OAuthError } from '../../errors.ts';

/**
 * Refuses a request of this client that it did not push (RFC 9126 sections 5 and 6). A client that
 * requires pushed requests gets nothing otherwise, whether or not the server accepts them now.
 */
export function refuseUnpushed({ pushesRequests }: ClientDemands, allArePushed: boolean): OAuthError | null {
  const reason = pushesRequests
    ? 'the client is registered to push its requests, and did not push this one'
    : allArePushed
      ? 'oauth_server:pushed_authorization_requests is require, and the request was not pushed'
      : null;
  return reason === null
    ? null
    : new OAuthError('invalid_request', 'The request has to be pushed first (RFC 9126).', reason);
}
