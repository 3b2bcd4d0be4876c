import { ENGLISH_WORDS, told, type PageText, type Text } from './words/words.ts';
import type { BindingRefusal } from './http/challenges.ts';

/**
 * The error codes of RFC 6749 (4.1.2.1, 5.2), RFC 8707 section 2 and OpenID Connect Core 3.1.2.6
 * that this server sends.
 */
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
  | 'request_uri_not_supported'
  | RegistrationErrorCode;

/** The error codes of RFC 7591 section 3.2.2 that this server sends. */
export type RegistrationErrorCode = 'invalid_redirect_uri' | 'invalid_client_metadata';

/**
 * A refusal that is reported to the client. The message is its `error_description`, so it is plain
 * ASCII without quotes (RFC 6749 section 5.2) and repeats nothing of the request.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** The parameter `error`. */
  readonly code: OAuthErrorCode;
  /**
   * The exact reason: for the log only, never for the client. Contains no secret, token or code.
   */
  readonly detail: string | null;
  /** The id of its authorization: for the log. The id grants nothing. Null if unknown. */
  authorization: string | null = null;

  /** `description` becomes `error_description`; `detail` stays in the log. */
  constructor(code: OAuthErrorCode, description: string, detail: string | null = null) {
    super(description);
    this.code = code;
    this.detail = detail;
  }
}

/**
 * The request needs a proof of a key. It is missing, is not valid, or lacks what this server
 * requires.
 */
export class KeyProofError extends Error {
  override readonly name = 'KeyProofError';
  /** The exact reason, only for the log. */
  readonly code: BearerErrorCode;
  /** Which of the possible reasons it was: for the log alone. */
  readonly detail: string;
  /** Header fields for the answer, such as what the next proof must contain. */
  readonly fields: Readonly<Record<string, string>>;

  /** `message` becomes `error_description`. */
  constructor(
    code: BearerErrorCode,
    message: string,
    detail: string,
    fields: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.detail = detail;
    this.fields = fields;
  }
}

/** There were too many wrong client secrets before this one; a later attempt may succeed. */
export class TooManyFailuresError extends Error {
  override readonly name = 'TooManyFailuresError';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(wait: number) {
    super('Too many failed attempts; wait before the next one.');
    this.retryAfter = Math.ceil(wait / 1000);
  }
}

/**
 * The keys that a client publishes cannot be fetched, so its signatures cannot be verified. A later
 * attempt may succeed.
 */
export class ClientKeysError extends Error {
  override readonly name = 'ClientKeysError';
  /** Why: only for the log. */
  readonly detail: string;
  /** Seconds. */
  readonly retryAfter: number;

  constructor(detail: string, retryAfter: number) {
    super('The keys of the client cannot be fetched now; try again later.');
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

/** The request cannot be answered now, for a temporary reason. A later attempt may succeed. */
export class NotNowError extends Error {
  override readonly name = 'NotNowError';
  /** Whether only this caller asked for too much. */
  readonly tooMuch: boolean;
  /** Why: only for the log. */
  readonly detail: string;
  /** Seconds. */
  readonly retryAfter: number;

  constructor(
    message: string,
    about: { readonly tooMuch: boolean; readonly detail: string; readonly retryAfter: number },
  ) {
    super(message);
    this.tooMuch = about.tooMuch;
    this.detail = about.detail;
    this.retryAfter = about.retryAfter;
  }
}

/** Too many clients have registered themselves; a later attempt may succeed. */
export class TooManyRegistrationsError extends Error {
  override readonly name = 'TooManyRegistrationsError';
  /** Whose registrations reached the limit: those of one network, or all. */
  readonly of: 'network' | 'all';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(of: 'network' | 'all', wait: number) {
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    const where = of === 'network' ? 'from this network' : 'here';
    super(`Too many clients have registered ${where}; try again in ${retryAfter} s.`);
    this.of = of;
    this.retryAfter = retryAfter;
  }
}

/** The body of a request is larger than the limit. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/**
 * A refusal in the browser that must not be a redirect (RFC 6749 section 4.1.2.1), and so is a
 * page. Its message and title are in English, for the log; `text` is for the person, in their
 * language.
 */
export class AuthorizationPageError extends Error {
  override readonly name = 'AuthorizationPageError';
  readonly text: PageText;
  /** The exact reason: for the log, and for the page under `APP_ENV=dev`. */
  readonly detail: string | null;
  /** In how many seconds the same request may succeed; null if it will not. */
  readonly retryAfter: number | null;
  /** Where the person can go from here on this server; null if only back to the application. */
  readonly link: PageLink | null;
  /** The status of the page if `retryAfter` is null. */
  readonly status: 400 | 403 | 404;
  /** Its name in the log. */
  readonly code: string;

  constructor(
    text: PageText,
    detail: string | null = null,
    about: {
      readonly retryAfter?: number;
      readonly link?: PageLink;
      readonly status?: 400 | 403 | 404;
      readonly code?: string;
    } = {},
  ) {
    super(told(ENGLISH_WORDS, text.message));
    this.text = text;
    this.detail = detail;
    this.retryAfter = about.retryAfter ?? null;
    this.link = about.link ?? null;
    this.status = about.status ?? 400;
    this.code = about.code ?? 'not_redirected';
  }

  /** In English. */
  get title(): string {
    return told(ENGLISH_WORDS, this.text.title);
  }
}

/** A link that a page shows. */
export interface PageLink {
  readonly href: string;
  readonly text: Text;
}

/**
 * The error codes that protected resources answer with (RFC 6750 section 3.1); a feature may add
 * its own.
 */
export interface BearerErrorCodes {
  /** There is no token. */
  readonly missing_token: true;
  /** The request is malformed. */
  readonly invalid_request: true;
  /** The token is not valid here. */
  readonly invalid_token: true;
  /** The token lacks the scope. */
  readonly insufficient_scope: true;
  /**
   * Only with `oauth_server:challenge`: no token would help, because the person lacks the
   * permission.
   */
  readonly access_denied: true;
}

/** Why a request may not reach a protected resource. */
export type BearerErrorCode = keyof BearerErrorCodes;

/** A request for a protected resource came without a sufficient token. */
export class BearerError extends Error {
  override readonly name = 'BearerError';
  /** The parameter `error` of the response; a missing token has none (RFC 6750 section 3.1). */
  readonly code: BearerErrorCode;
  /** The scope that was needed. */
  readonly scope: string | null;
  /** The exact reason, only for the log. */
  readonly detail: string | null;
  /** The refused request, so that the response can name it; null if unknown. */
  readonly requestId: string | null;
  /**
   * The URL of the resource's metadata (RFC 9728), for the challenge; null if challenges do not
   * name it.
   */
  readonly resourceMetadata: string | null;
  /** What the challenge says about bound tokens; null if there are none. */
  readonly binding: BindingRefusal | null;
  /**
   * The id of the authorization of the token: for the log. The id grants nothing. Null if unknown.
   */
  readonly authorization: string | null;

  /** `scope` is the one that was needed, if any. */
  constructor(
    code: BearerErrorCode,
    scope: string | null = null,
    about: {
      readonly message?: string;
      readonly detail?: string;
      readonly requestId?: string | null;
      readonly resourceMetadata?: string | null;
      readonly binding?: BindingRefusal | null;
      readonly authorization?: string | null;
    } = {},
  ) {
    super(about.message ?? BEARER_MESSAGES[code] ?? code);
    this.code = code;
    this.scope = scope;
    this.detail = about.detail ?? null;
    this.requestId = about.requestId ?? null;
    this.resourceMetadata = about.resourceMetadata ?? null;
    this.binding = about.binding ?? null;
    this.authorization = about.authorization ?? null;
  }
}

const BEARER_MESSAGES: Readonly<Partial<Record<BearerErrorCode, string>>> = {
  missing_token: 'This resource needs an access token.',
  invalid_request: 'The request is malformed, or sends the access token in more than one way.',
  invalid_token: 'The access token is not valid here: unknown, expired or revoked.',
  insufficient_scope: 'The access token does not reach this resource.',
  access_denied: 'The person has no permission for this, and no access token would change that.',
};

/**
 * A client cannot be registered as requested; the message says why, in one line for the person who
 * asked.
 */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/**
 * An administrator asked for something that is unknown or ill-formed. The message says why, in one
 * line.
 */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

/**
 * The host did not answer in time. This is a fault of the host, and a later attempt may succeed.
 */
export class HostTimeoutError extends Error {
  override readonly name = 'HostTimeoutError';

  /** `member` of the host contract, and the waiting time in milliseconds. */
  constructor(member: string, patience: number) {
    super(`${member} of the host did not answer within ${patience} ms`);
  }
}
