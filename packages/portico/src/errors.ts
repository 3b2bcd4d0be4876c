import { ENGLISH_WORDS, told, type PageText, type Text } from './words/words.ts';
import type { BindingRefusal } from './http/challenges.ts';

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
  | 'request_uri_not_supported'
  | RegistrationErrorCode;

/** The error codes of RFC 7591 section 3.2.2 that this server sends. */
export type RegistrationErrorCode = 'invalid_redirect_uri' | 'invalid_client_metadata';

/**
 * A refusal that is reported to the client. The message is its `error_description`, so it is plain ASCII without quotes
 * (RFC 6749 section 5.2) and repeats nothing that was sent.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** The parameter `error`. */
  readonly code: OAuthErrorCode;
  /**
   * The exact reason: for the log only, never for the client. Contains no secret, token or code.
   */
  readonly detail: string | null;
  /**
   * The id of the authorization that it is about: for the log. The id grants nothing. Null when
   * none is known.
   */
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
  /** The parameter `error`. */
  readonly code: BearerErrorCode;
  /** Which of the possible reasons it was: for the log alone. */
  readonly detail: string;
  /** The header fields that the answer gets, such as what the next proof is to carry. */
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

/**
 * The keys that a client publishes cannot be fetched, so its signatures cannot be verified. A later
 * attempt may succeed.
 */
export class ClientKeysError extends Error {
  override readonly name = 'ClientKeysError';
  /** Why: for the log alone. */
  readonly detail: string;
  /** Seconds. */
  readonly retryAfter: number;

  constructor(detail: string, retryAfter: number) {
    super('The keys of the client cannot be fetched now; try again later.');
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

/** The request cannot be met now, for a temporary reason. A later attempt may succeed. */
export class NotNowError extends Error {
  override readonly name = 'NotNowError';
  /** Whether this caller, and not others, asked for too much. */
  readonly tooMuch: boolean;
  /** Why: for the log alone. */
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

/** Too many clients have registered themselves; a later attempt may go ahead. */
export class TooManyRegistrationsError extends Error {
  override readonly name = 'TooManyRegistrationsError';
  /** Whose registrations they are: those of one network, or all. */
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

/** The body of a request is larger than this server reads. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/**
 * A refusal in the browser that must not be a redirect (RFC 6749 section 4.1.2.1), and so is a page. Its message and title are in English, for the log;
 * `text` is what the person reads, in their language.
 */
export class AuthorizationPageError extends Error {
  override readonly name = 'AuthorizationPageError';
  readonly text: PageText;
  /** Which of the possible reasons it was: for the log, and for the page under `APP_ENV=dev`. */
  readonly detail: string | null;
  /** In how many seconds the same may succeed; null when it will not. */
  readonly retryAfter: number | null;
  /** Where the person can go from here, on this server; null when only back to the application. */
  readonly link: PageLink | null;
  /** The status of the page, where `retryAfter` is null. */
  readonly status: 400 | 403 | 404;
  /** What the log calls it. */
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

/** The error codes that protected resources answer with (RFC 6750 section 3.1); a feature may add its own. */
export interface BearerErrorCodes {
  /** There is no token. */
  readonly missing_token: true;
  /** The request is malformed. */
  readonly invalid_request: true;
  /** The token cannot be used here. */
  readonly invalid_token: true;
  /** The token does not reach the resource. */
  readonly insufficient_scope: true;
  /** With `oauth_server:challenge` alone: no token would reach it, since the person has no permission. */
  readonly access_denied: true;
}

/** Why a request may not reach a protected resource. */
export type BearerErrorCode = keyof BearerErrorCodes;

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
  /** The URL of the resource's metadata (RFC 9728), for the challenge; null when challenges do not name it. */
  readonly resourceMetadata: string | null;
  /** What the challenge says of tokens that are bound to a key; null where there are none. */
  readonly binding: BindingRefusal | null;
  /**
   * The id of the authorization of the token that was sent: for the log. The id grants nothing.
   * Null when none is known.
   */
  readonly authorization: string | null;

  /** `scope` is the one that would have been needed, if any. */
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

/** A client cannot be registered as asked; the message says why, in one line for the person who asked. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/**
 * An administrator asked for something that cannot be done: it is unknown or ill-formed. The
 * message says why, in one line.
 */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

/** The host did not answer in time. It is a fault of the host, and a later attempt may go ahead. */
export class HostTimeoutError extends Error {
  override readonly name = 'HostTimeoutError';

  /** `member` of the host contract, and how long it was waited for, in milliseconds. */
  constructor(member: string, patience: number) {
    super(`${member} of the host did not answer within ${patience} ms`);
  }
}
