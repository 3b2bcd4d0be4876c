import { jsonText } from '../contracts/json.ts';
import { madeOfText } from '../http/body-text.ts';
import { answerFields, challenges, type BindingRefusal } from '../http/challenges.ts';
import { madeWithRequestId, REQUEST_ID_HEADER } from '../http/request-id.ts';
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
} from '../errors.ts';

/** The one place where errors become HTTP. */

/** A response as plain data, to which header fields can still be added. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number;
  /** Its header fields. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of a picture, or text. */
  readonly body: string | Uint8Array | null;
  /** `Set-Cookie` headers, of which there may be several. */
  readonly cookies?: readonly string[];
  /** The refusal that it answers, for the log; absent if nothing was refused. */
  readonly refused?: Error;
}

/** The Response of a reply, with the id of its request if that is known. */
export function toResponse(
  { status, headers, body, cookies = [] }: Reply,
  requestId: string | null,
): Response {
  const named = requestId === null ? headers : { ...headers, [REQUEST_ID_HEADER]: requestId };
  // The type does not name its buffer: TypeScript 5 before 5.7, which some hosts compile with, has
  // only one kind.
  const sent = body as string | Uint8Array<ArrayBuffer> | null;
  const response = new Response(sent, { status, headers: named });
  if (typeof body === 'string') madeOfText(response, body);
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
    body: jsonText(body),
  };
}

/** With these header fields in addition. */
export function withFields(reply: Reply, fields: Readonly<Record<string, string>> | null): Reply {
  return fields === null ? reply : { ...reply, headers: { ...reply.headers, ...fields } };
}

/** 400 for every other code (RFC 6749 section 5.2). */
const STATUS: Partial<Readonly<Record<OAuthErrorCode, number>>> = { invalid_client: 401 };

/** 401 for every other code. */
const BEARER_STATUS: Readonly<Partial<Record<BearerErrorCode, number>>> = {
  invalid_request: 400,
  insufficient_scope: 403,
  access_denied: 403,
};

/** For pages of other origins, which may read answers through the application's own CORS. */
const READABLE_CHALLENGE = { 'Access-Control-Expose-Headers': 'WWW-Authenticate' } as const;

/** The reply to a refusal; null for any other error. */
export function refusalReply(error: unknown): Reply | null {
  if (error instanceof OAuthError) {
    const status = STATUS[error.code] ?? 400;
    const challenge = status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' } : {};
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

/** The response to a request without a sufficient token: 400, 401 or 403, with a challenge. */
export function bearerErrorResponse(error: BearerError): Response {
  return toResponse(bearerErrorReply(error), error.requestId);
}

/** Without a token the challenge names no error (RFC 6750 section 3). */
function bearerErrorReply(error: BearerError): Reply {
  const { code, message, scope, resourceMetadata, binding } = error;
  const status = BEARER_STATUS[code] ?? 401;
  const isMissing = code === 'missing_token';
  const parameters = {
    realm: 'oauth',
    error: isMissing ? null : code,
    error_description: isMissing ? null : message,
    scope: isMissing && resourceMetadata === null ? null : scope,
    resource_metadata: resourceMetadata,
  };
  const body = { error: isMissing ? 'invalid_token' : code, error_description: message };
  // RFC 9110 section 11.6.1: a challenge means that other credentials might help.
  if (code === 'access_denied') return jsonReply(body, status, NEVER_STORED);
  return jsonReply(body, status, {
    ...NEVER_STORED,
    'WWW-Authenticate': challenges(parameters, binding),
    ...(binding === null ? (resourceMetadata === null ? {} : READABLE_CHALLENGE) : readableFields(binding)),
  });
}

function readableFields(binding: BindingRefusal): Readonly<Record<string, string>> {
  const readable = `WWW-Authenticate, ${binding.answerField}`;
  return { 'Access-Control-Expose-Headers': readable, ...answerFields(binding) };
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
