import { isOverloaded } from '@portico/sql';
import { HostTimeoutError, type FurtherErrorCodes, type OAuthErrorCode } from '../../errors.ts';
import { KeysLostError, SignerError } from '../../keys/signing-key.ts';
import { refusalCode } from '../../refusals.ts';

/** The codes of `refusalCode` that are not OAuth errors. */
type RefusalCode =
  | 'missing_token'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'not_redirected'
  | 'invalid_input'
  | 'other_origin'
  | 'form_not_accepted'
  | 'too_many_failures'
  | 'client_keys_unavailable'
  | 'too_much'
  | 'not_now'
  | 'too_many_registrations'
  | 'body_too_large';

type CoreErrorCode = Exclude<OAuthErrorCode, keyof FurtherErrorCodes>;

/**
 * The core's error codes that telemetry reports. Features can add more. Any other code becomes
 * `other`.
 */
const REASONS: Readonly<Record<CoreErrorCode | RefusalCode, true>> = {
  invalid_request: true,
  invalid_client: true,
  invalid_grant: true,
  unauthorized_client: true,
  unsupported_grant_type: true,
  unsupported_response_type: true,
  invalid_scope: true,
  invalid_target: true,
  access_denied: true,
  interaction_required: true,
  login_required: true,
  request_not_supported: true,
  request_uri_not_supported: true,
  invalid_redirect_uri: true,
  invalid_client_metadata: true,
  missing_token: true,
  invalid_token: true,
  insufficient_scope: true,
  not_redirected: true,
  invalid_input: true,
  other_origin: true,
  form_not_accepted: true,
  too_many_failures: true,
  client_keys_unavailable: true,
  too_much: true,
  not_now: true,
  too_many_registrations: true,
  body_too_large: true,
};

/**
 * Returns why the server rejected a request or failed: an error code, `other`, `unavailable`,
 * `overloaded` or `fault`. `others` contains the codes that features add.
 */
export function getReason(
  error: unknown,
  isUnavailable: (error: unknown) => boolean,
  others: ReadonlySet<string>,
): string {
  const code = error instanceof Error ? refusalCode(error) : null;
  if (code !== null) return Object.hasOwn(REASONS, code) || others.has(code) ? code : 'other';
  const passes = [KeysLostError, SignerError, HostTimeoutError].some(
    (kind) => error instanceof kind,
  );
  if (passes || isUnavailable(error)) return 'unavailable';
  return isOverloaded(error) ? 'overloaded' : 'fault';
}
