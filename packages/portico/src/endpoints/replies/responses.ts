import { jsonText } from '../../http/json.ts';
import { madeOfText } from '../../http/body-text.ts';
import { answerFields, challenges, type BindingRefusal } from '../../http/challenges.ts';
import { madeWithRequestId, REQUEST_ID_HEADER } from '../../http/request-id.ts';
import {
  BearerError,
  BodyTooLargeError,
  ClientKeysError,
  KeyProofError,
  NotNowError,
  OAuthError,
  TooManyFailuresError,
  TooManyRegistrationsError,
  type BearerErrorCode,
  type OAuthErrorCode,
} from '../../errors.ts';

/** A response as plain data, to which header fields can still be added. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body, or the bytes of a picture. Null for an empty body. */
  readonly body: string | Uint8Array | null;
  /** The values of the `Set-Cookie` headers. */
  readonly cookies?: readonly string[];
  /** The error that explains the refusal, for the log. Missing if the request was not refused. */
  readonly refused?: Error;
}

/** Adds the request's id, unless it is null. */
export function withRequestIdField(reply: Reply, requestId: string | null): Reply {
  return withFields(reply, requestId === null ? null : { [REQUEST_ID_HEADER]: requestId });
}

export function toResponse({ status, headers, body, cookies = [] }: Reply): Response {
  // TypeScript before 5.7 does not know `Uint8Array<ArrayBuffer>`. So the type of `body` must not
  // contain it.
  const sent = body as string | Uint8Array<ArrayBuffer> | null;
  const response = new Response(sent, { status, headers });
  if (typeof body === 'string') madeOfText(response, body);
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return REQUEST_ID_HEADER in headers ? madeWithRequestId(response) : response;
}

const NO_HEADER_VALUE = /[^\t -~\x80-\xff]/;

/**
 * Like `toResponse`, but also throws a TypeError for an invalid header if `@hono/node-server` has
 * replaced the global Response. Its class refuses such a header only when the headers are read.
 */
export function toCheckedResponse(reply: Reply): Response {
  if (Object.values(reply.headers).some((value) => NO_HEADER_VALUE.test(value)))
    throw new TypeError('A header of the reply is not valid');
  return toResponse(reply);
}

const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;
const JSON_NEVER_STORED = { 'Content-Type': 'application/json', ...NEVER_STORED } as const;

export function jsonReply(
  body: unknown,
  status = 200,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return {
    status,
    headers:
      headers === undefined
        ? JSON_NEVER_STORED
        : { 'Content-Type': 'application/json', ...headers },
    body: jsonText(body),
  };
}

export function withFields(reply: Reply, fields: Readonly<Record<string, string>> | null): Reply {
  return fields === null ? reply : { ...reply, headers: { ...reply.headers, ...fields } };
}

/** All other error codes use 400 (RFC 6749 section 5.2). */
const STATUS: Partial<Readonly<Record<OAuthErrorCode, number>>> = { invalid_client: 401 };

/** All other error codes use 401. */
const BEARER_STATUS: Readonly<Partial<Record<BearerErrorCode, number>>> = {
  invalid_request: 400,
  insufficient_scope: 403,
  access_denied: 403,
};

/** Lets pages of other origins read the challenge, if CORS lets them read the response. */
const READABLE_CHALLENGE = { 'Access-Control-Expose-Headers': 'WWW-Authenticate' } as const;

/** Returns null if the error is not a refusal. */
export function refusalReply(error: unknown): Reply | null {
  if (error instanceof OAuthError) {
    const status = STATUS[error.code] ?? 400;
    const challenge =
      status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' } : {};
    const body = { error: error.code, error_description: error.message };
    return jsonReply(body, status, { ...NEVER_STORED, ...challenge });
  }
  if (error instanceof KeyProofError) {
    const body = { error: error.code, error_description: error.message };
    return jsonReply(body, 400, { ...NEVER_STORED, ...error.fields });
  }
  if (error instanceof BearerError) return bearerErrorReply(error);
  if (error instanceof TooManyFailuresError) {
    const body = { error: 'temporarily_unavailable', error_description: error.message };
    return jsonReply(body, 429, { ...NEVER_STORED, 'Retry-After': String(error.retryAfter) });
  }
  if (error instanceof ClientKeysError) {
    const body = { error: 'temporarily_unavailable', error_description: error.message };
    return jsonReply(body, 503, { ...NEVER_STORED, 'Retry-After': String(error.retryAfter) });
  }
  if (error instanceof NotNowError) {
    const body = { error: 'temporarily_unavailable', error_description: error.message };
    const status = error.tooMuch ? 429 : 503;
    return jsonReply(body, status, { ...NEVER_STORED, 'Retry-After': String(error.retryAfter) });
  }
  if (error instanceof TooManyRegistrationsError) {
    const body = { error: 'temporarily_unavailable', error_description: error.message };
    const status = error.of === 'network' ? 429 : 503;
    return jsonReply(body, status, { ...NEVER_STORED, 'Retry-After': String(error.retryAfter) });
  }
  if (error instanceof BodyTooLargeError) {
    return jsonReply({ error: 'invalid_request', error_description: error.message }, 413);
  }
  return null;
}

/**
 * Returns the response to a request without a sufficient token: 400, 401 or 403 (RFC 6750 section
 * 3). It contains a challenge, unless the error is `access_denied`.
 *
 * @example
 * if (error instanceof BearerError) return bearerErrorResponse(error);
 */
export function bearerErrorResponse(error: BearerError): Response {
  return toResponse(withRequestIdField(bearerErrorReply(error), error.requestId));
}

/**
 * Without any token in the request, the challenge contains no error code (RFC 6750 section 3.1).
 */
function bearerErrorReply(error: BearerError): Reply {
  const { code, message, scope, resourceMetadata, binding } = error;
  const status = BEARER_STATUS[code] ?? 401;
  const isMissing = code === 'missing_token';
  const parameters = {
    realm: 'oauth',
    error: isMissing ? null : code,
    error_description: isMissing ? null : message,
    scope: isMissing && resourceMetadata === null ? null : scope,
    ...error.parameters,
    resource_metadata: resourceMetadata,
  };
  const body = { error: isMissing ? 'invalid_token' : code, error_description: message };
  // A challenge would suggest that other credentials help (RFC 9110 section 11.6.1).
  if (code === 'access_denied') return jsonReply(body, status, NEVER_STORED);
  return jsonReply(body, status, {
    ...NEVER_STORED,
    'WWW-Authenticate': challenges(parameters, binding),
    ...(binding === null
      ? resourceMetadata === null
        ? {}
        : READABLE_CHALLENGE
      : readableFields(binding)),
  });
}

function readableFields(binding: BindingRefusal): Readonly<Record<string, string>> {
  const readable = `WWW-Authenticate, ${binding.answerField}`;
  return { 'Access-Control-Expose-Headers': readable, ...answerFields(binding) };
}

/**
 * Returns a 503 response. The client can repeat the request: no code or refresh token was used, and
 * no token was issued.
 */
export function unavailableReply(): Reply {
  const body = {
    error: 'temporarily_unavailable',
    error_description: 'The server cannot answer now; try again.',
  };
  return jsonReply(body, 503, { ...NEVER_STORED, 'Retry-After': '2' });
}

/** Returns a 500 response. Only the log describes the error. */
export function faultReply(): Reply {
  return jsonReply(
    { error: 'server_error', error_description: 'The server failed to answer.' },
    500,
  );
}
