import { ENGLISH_WORDS, told, type PageText, type Text } from './pages/words.ts';
import type { BindingRefusal } from './http/challenges.ts';

/**
 * The error codes that this server sends. They come from RFC 6749 (4.1.2.1, 5.2), RFC 8707 section
 * 2 and OpenID Connect Core 3.1.2.6.
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
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | RegistrationErrorCode
  | keyof FurtherErrorCodes;

/** Error codes that features add for their grants. Each feature declares its codes here. */
export interface FurtherErrorCodes {}

/**
 * The error codes for client registration that this server sends. They come from RFC 7591 section
 * 3.2.2.
 */
export type RegistrationErrorCode = 'invalid_redirect_uri' | 'invalid_client_metadata';

/**
 * Thrown to refuse a request and tell the client why. The message becomes `error_description`, so
 * it must be plain ASCII without quotes and backslashes (RFC 6749 section 5.2). It must not contain
 * text from the request.
 *
 * @example
 * throw new OAuthError('invalid_grant', 'The code is not valid.', 'the code has expired');
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** The value of the response parameter `error`. */
  readonly code: OAuthErrorCode;
  /** The exact reason, only for the log. It must not contain a secret, token or code. */
  readonly detail: string | null;
  /** The id of the authorization, for the log. It grants no access. Null if unknown. */
  authorization: string | null = null;

  /** `description` becomes `error_description`. `detail` appears only in the log. */
  constructor(code: OAuthErrorCode, description: string, detail: string | null = null) {
    super(description);
    this.code = code;
    this.detail = detail;
  }
}

/** Thrown if a required proof of a key is missing, invalid or incomplete. */
export class KeyProofError extends Error {
  override readonly name = 'KeyProofError';
  /** The response parameter `error`. */
  readonly code: BearerErrorCode;
  /** Only for the log. */
  readonly detail: string;
  /** Header fields for the response, such as the nonce for the next proof. */
  readonly fields: Readonly<Record<string, string>>;

  /** `message` becomes `error_description` in the response. */
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

/**
 * Thrown after too many failed attempts to authenticate as this client, or from this network. The
 * client can try again later.
 */
export class TooManyFailuresError extends Error {
  override readonly name = 'TooManyFailuresError';
  /** In seconds. */
  readonly retryAfter: number;

  constructor(wait: number) {
    super('Too many failed attempts; wait before the next one.');
    this.retryAfter = Math.ceil(wait / 1000);
  }
}

/**
 * Thrown if the server cannot fetch the client's keys, and so cannot verify its signatures. The
 * client can try again later.
 */
export class ClientKeysError extends Error {
  override readonly name = 'ClientKeysError';
  /** Only for the log. */
  readonly detail: string;
  /** In seconds. */
  readonly retryAfter: number;

  constructor(detail: string, retryAfter: number) {
    super('The keys of the client cannot be fetched now; try again later.');
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

/** Thrown if the server cannot handle the request now. The client can try again later. */
export class NotNowError extends Error {
  override readonly name = 'NotNowError';
  /** True if this caller has sent too many requests. */
  readonly tooMuch: boolean;
  /** Only for the log. */
  readonly detail: string;
  /** In seconds. */
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

/** Thrown if too many clients have registered themselves. The client can try again later. */
export class TooManyRegistrationsError extends Error {
  override readonly name = 'TooManyRegistrationsError';
  /** The limit for registrations from one network, or for all. */
  readonly of: 'network' | 'all';
  /** In seconds. */
  readonly retryAfter: number;

  constructor(of: 'network' | 'all', wait: number) {
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    const where = of === 'network' ? 'from this network' : 'here';
    super(`Too many clients have registered ${where}; try again in ${retryAfter} s.`);
    this.of = of;
    this.retryAfter = retryAfter;
  }
}

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/**
 * Thrown to refuse a browser's request with an error page: the server must not redirect to the
 * client (RFC 6749 section 4.1.2.1). The message and the title are English, for the log. `text` is
 * for the page, in the user's language.
 */
export class AuthorizationPageError extends Error {
  override readonly name = 'AuthorizationPageError';
  readonly text: PageText;
  /** The exact reason, for the log. In development, the page shows it too. */
  readonly detail: string | null;
  /**
   * How many seconds to wait before the same request is sent again. Null if waiting does not help.
   */
  readonly retryAfter: number | null;
  /**
   * A link to another page on this server. If null, the user can only return to the application.
   */
  readonly link: PageLink | null;
  /** The HTTP status of the page if `retryAfter` is null. */
  readonly status: 400 | 403 | 404;
  /** The code of this error in the log. */
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

  /** The title of the page, in English. */
  get title(): string {
    return told(ENGLISH_WORDS, this.text.title);
  }
}

export interface PageLink {
  readonly href: string;
  readonly text: Text;
}

/** The error codes of protected resources (RFC 6750 section 3.1). Features can add codes. */
export interface BearerErrorCodes {
  /** The request contains no token. */
  readonly missing_token: true;
  /** The request is malformed. */
  readonly invalid_request: true;
  /** This server does not accept the token. */
  readonly invalid_token: true;
  /** The token does not have the required scope. */
  readonly insufficient_scope: true;
  /**
   * The user does not have the permission, so another token would not help. Used only if challenges
   * link to metadata (`oauth_server:challenge`, or `challenge` of a resource).
   */
  readonly access_denied: true;
}

/** The reason why a protected resource refuses a request. */
export type BearerErrorCode = keyof BearerErrorCodes;

/**
 * Thrown if a request to a protected resource has no token, or a token that does not allow the
 * request (RFC 6750 section 3).
 *
 * @example
 * if (error instanceof BearerError) return bearerErrorResponse(error);
 */
export class BearerError extends Error {
  override readonly name = 'BearerError';
  /**
   * The error code in the challenge and in the response. Without a token (`missing_token`), the
   * challenge contains no code (RFC 6750 section 3.1), and the body contains `invalid_token`.
   */
  readonly code: BearerErrorCode;
  /** The scope that the request requires. Null if any valid token is sufficient. */
  readonly scope: string | null;
  /** The exact reason, which appears only in the log. */
  readonly detail: string | null;
  /** The id of the refused request. The response contains this id. Null if the id is unknown. */
  readonly requestId: string | null;
  /**
   * The URL of the resource's metadata (RFC 9728). The challenge links to it. Null without such a
   * link.
   */
  readonly resourceMetadata: string | null;
  /** What the challenge says about bound tokens. Null if the server does not bind tokens. */
  readonly binding: BindingRefusal | null;
  /** The id of the token's authorization, for the log. It grants no access. Null if unknown. */
  readonly authorization: string | null;
  /** Additional parameters to put into the challenge. */
  readonly parameters: Readonly<Record<string, string>>;

  /** `scope` is the scope that the request requires, or null if any valid token is sufficient. */
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
      readonly parameters?: Readonly<Record<string, string>>;
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
    this.parameters = about.parameters ?? {};
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
 * Thrown if a client cannot be registered as requested. The message tells the requester the reason,
 * in one line.
 *
 * @example
 * if (error instanceof RegistrationError) return context.fail(error.message);
 */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/**
 * Thrown if an administrator's request is malformed or names something that does not exist. The
 * message states the reason, in one line.
 *
 * @example
 * if (error instanceof AccessError) return context.fail(error.message);
 */
export class AccessError extends Error {
  override readonly name = 'AccessError';
}

/** Thrown if a method of the host takes too long. The request can be repeated later. */
export class HostTimeoutError extends Error {
  override readonly name = 'HostTimeoutError';

  /** `member` names the host method. `patience` is how long the server waited, in milliseconds. */
  constructor(member: string, patience: number) {
    super(`Host.${member} did not respond within ${patience} ms`);
  }
}
