import { madeWithRequestId, REQUEST_ID_HEADER } from '../../http/request-id.ts';
import {
  BearerError,
  BodyTooLargeError,
  OAuthError,
  TooManyFailuresError,
  type BearerErrorCode,
  type OAuthErrorCode,
} from '../errors.ts';

/** The one place where errors become HTTP. */

/** A response as plain data, to which header fields can still be added. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** `Set-Cookie` headers, of which there may be several. */
  readonly cookies?: readonly string[];
  /** The refusal that it answers with, for the log; absent when nothing was refused. */
  readonly refused?: Error;
}

/** The Response of a reply, with the id of its request when that is known. */
export function toResponse(
  { status, headers, body, cookies = [] }: Reply,
  requestId: string | null,
): Response {
  const named = requestId === null ? headers : { ...headers, [REQUEST_ID_HEADER]: requestId };
  const response = new Response(body, { status, headers: named });
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return requestId === null ? response : madeWithRequestId(response);
}

const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;
/** The header fields of a JSON reply, unless others are given. */
const JSON_NEVER_STORED = { 'Content-Type': 'application/json', ...NEVER_STORED } as const;

export function jsonReply(body: unknown, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return {
    status,
    headers: headers === undefined ? JSON_NEVER_STORED : { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** 400 for every other code (RFC 6749 section 5.2). */
const STATUS: Partial<Readonly<Record<OAuthErrorCode, number>>> = { invalid_client: 401 };

const BEARER_STATUS: Readonly<Record<BearerErrorCode, number>> = {
  missing_token: 401,
  invalid_request: 400,
  invalid_token: 401,
  insufficient_scope: 403,
};

/** The reply to a refusal; null for any other error. */
export function refusalReply(error: unknown): Reply | null {
  if (error instanceof OAuthError) {
    const status = STATUS[error.code] ?? 400;
    const challenge = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' } : {};
    const body = { error: error.code, error_description: error.message };
    return jsonReply(body, status, { ...NEVER_STORED, ...challenge });
  }
  if (error instanceof BearerError) return bearerErrorReply(error);
  if (error instanceof TooManyFailuresError) {
    const body = { error: 'temporarily_unavailable', error_description: error.message };
    return jsonReply(body, 429, { ...NEVER_STORED, 'Retry-After': String(error.retryAfter) });
  }
  if (error instanceof BodyTooLargeError) {
    return jsonReply({ error: 'invalid_request', error_description: error.message }, 413);
  }
  return null;
}

/** The response to a request whose token does not reach the resource: 400, 401 or 403, with a challenge. */
export function bearerErrorResponse(error: BearerError): Response {
  return toResponse(bearerErrorReply(error), error.requestId);
}

/** Without a token the challenge names no error (RFC 6750 section 3). */
function bearerErrorReply(error: BearerError): Reply {
  const attributes =
    error.code === 'missing_token'
      ? []
      : [
          `error="${error.code}"`,
          `error_description="${error.message}"`,
          ...(error.scope === null ? [] : [`scope="${error.scope}"`]),
        ];
  const challenge = ['Bearer realm="oauth"', ...attributes].join(', ');
  const body = {
    error: error.code === 'missing_token' ? 'invalid_token' : error.code,
    error_description: error.message,
  };
  return jsonReply(body, BEARER_STATUS[error.code], { ...NEVER_STORED, 'WWW-Authenticate': challenge });
}

/** 503: nothing was spent, nothing issued, and the same request may succeed soon. */
export function unavailableReply(): Reply {
  const body = {
    error: 'temporarily_unavailable',
    error_description: 'The server cannot answer now; try again.',
  };
  return jsonReply(body, 503, { ...NEVER_STORED, 'Retry-After': '2' });
}

/** 500 for a fault of ours, which only the log describes. */
export function faultReply(): Reply {
  return jsonReply({ error: 'server_error', error_description: 'The server failed to answer.' }, 500);
}
