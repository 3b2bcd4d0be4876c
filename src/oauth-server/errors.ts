/** The error codes of RFC 6749 (4.1.2.1, 5.2), RFC 8707 section 2 and OpenID Connect Core 3.1.2.6 that this server sends. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'interaction_required'
  | 'request_not_supported'
  | 'request_uri_not_supported';

/**
 * A refusal that is reported to the client. The message is its `error_description`, so it is plain ASCII without quotes
 * (RFC 6749 section 5.2) and repeats nothing that was sent.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** The parameter `error`. */
  readonly code: OAuthErrorCode;
  /** Which of the possible reasons it was: for the log alone, never for the client. Names no secret, token or code. */
  readonly detail: string | null;

  /** `description` becomes `error_description`; `detail` stays in the log. */
  constructor(code: OAuthErrorCode, description: string, detail: string | null = null) {
    super(description);
    this.code = code;
    this.detail = detail;
  }
}

/** Too many wrong client secrets came before this one; a later attempt may go ahead. */
export class TooManyFailuresError extends Error {
  override readonly name = 'TooManyFailuresError';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(wait: number) {
    super('Too many failed attempts; wait before the next one.');
    this.retryAfter = Math.ceil(wait / 1000);
  }
}

/** The body of a request is larger than this server reads. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** A refusal in the browser that must not be a redirect (RFC 6749 section 4.1.2.1), and so is a page. */
export class AuthorizationPageError extends Error {
  override readonly name = 'AuthorizationPageError';
  readonly title: string;
  /** Which of the possible reasons it was: for the log, and for the page under `APP_ENV=dev`. */
  readonly detail: string | null;
  /** In how many seconds the same may succeed; null when it will not. */
  readonly retryAfter: number | null;
  /** Where the person can go from here, on this server; null when only back to the application. */
  readonly link: PageLink | null;

  constructor(
    title: string,
    message: string,
    detail: string | null = null,
    about: { readonly retryAfter?: number; readonly link?: PageLink } = {},
  ) {
    super(message);
    this.title = title;
    this.detail = detail;
    this.retryAfter = about.retryAfter ?? null;
    this.link = about.link ?? null;
  }
}

/** A link that a page shows. */
export interface PageLink {
  readonly href: string;
  readonly text: string;
}

/** Why a request may not reach a protected resource (RFC 6750 section 3.1). */
export type BearerErrorCode = 'missing_token' | 'invalid_request' | 'invalid_token' | 'insufficient_scope';

/** A request for a protected resource came without a token that reaches it. */
export class BearerError extends Error {
  override readonly name = 'BearerError';
  /** The parameter `error` of the response; a missing token has none (RFC 6750 section 3.1). */
  readonly code: BearerErrorCode;
  /** The scope that would have been needed. */
  readonly scope: string | null;
  /** Which of the possible reasons it was: for the log alone. */
  readonly detail: string | null;
  /** The request that was refused, so that the response can name it; null when it is not known. */
  readonly requestId: string | null;

  /** `scope` is the one that would have been needed, if any. */
  constructor(
    code: BearerErrorCode,
    scope: string | null = null,
    about: { readonly detail?: string; readonly requestId?: string | null } = {},
  ) {
    super(BEARER_MESSAGES[code]);
    this.code = code;
    this.scope = scope;
    this.detail = about.detail ?? null;
    this.requestId = about.requestId ?? null;
  }
}

const BEARER_MESSAGES: Readonly<Record<BearerErrorCode, string>> = {
  missing_token: 'This resource needs an access token.',
  invalid_request: 'The request is malformed, or sends the access token in more than one way.',
  invalid_token: 'The access token is not valid here: unknown, expired or revoked.',
  insufficient_scope: 'The access token does not reach this resource.',
};

/** A client cannot be registered as asked; the message says why, in one line for the person who asked. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}
