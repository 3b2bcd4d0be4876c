import { OAuthError } from '../errors.ts';
import type { JwsError, Jws } from '../jws/compact.ts';
import type { Parameters } from '../parameters.ts';

/**
 * How clients authenticate at the token endpoint, by the names of RFC 7591; `none` is for public
 * clients.
 */
export const CLIENT_AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** The method of clients with keys, where a feature verifies their assertions. */
export const PRIVATE_KEY_JWT = 'private_key_jwt';

/** What a request says about the client that sent it, before any of it is proved. */
export type Credentials =
  SecretCredentials | AssertionCredentials | { readonly method: 'none'; readonly clientId: string };

export interface AssertionCredentials {
  readonly method: typeof PRIVATE_KEY_JWT;
  /** Empty when neither the request nor the assertion names one. */
  readonly clientId: string;
  /** What was sent as an assertion, or why it cannot be one. */
  readonly assertion: Jws | JwsError;
}

/** How a request contains an assertion. */
export interface AssertionReader {
  readonly isSent: (form: Parameters) => boolean;
  /** Called only for a form that contains one. `clientId` is sent beside it. */
  readonly read: (form: Parameters, clientId: string | undefined) => AssertionCredentials;
}

export interface SecretCredentials {
  readonly method: 'client_secret_basic' | 'client_secret_post';
  readonly clientId: string;
  readonly secret: string;
}

/**
 * Reads the credentials of a request (RFC 6749 sections 2.3.1 and 3.2.1); assertions (RFC 7521
 * section 4.2) where they are taken. Throws `invalid_client` when there are none that can be read,
 * and `invalid_request` when they are sent twice.
 */
export function readCredentials(
  request: Request,
  form: Parameters,
  assertions: AssertionReader | null,
): Credentials {
  const basic = basicCredentials(request.headers.get('authorization'));
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  if (assertions?.isSent(form) === true) {
    if (basic !== null || secret !== undefined) {
      throw new OAuthError(
        'invalid_request',
        'The client authenticates by an assertion and in another way; use one.',
      );
    }
    return assertions.read(form, clientId);
  }
  if (basic === null) {
    if (clientId === undefined) throw invalidClient('no client id was sent');
    if (secret === undefined) return { method: 'none', clientId };
    return { method: 'client_secret_post', clientId, secret };
  }
  if (secret !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'The client authenticates both with HTTP Basic and in the body; use one.',
    );
  }
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw new OAuthError('invalid_request', 'The client_id in the body is not the one that authenticates.');
  }
  return basic;
}

/** One public answer for every reason; which one it was is for the log. */
export function invalidClient(detail: string): OAuthError {
  return new OAuthError('invalid_client', 'The client is unknown or could not be authenticated.', detail);
}

/**
 * The credentials of HTTP Basic, form-decoded (RFC 6749 section 2.3.1); null when another scheme or
 * none is used.
 */
function basicCredentials(header: string | null): SecretCredentials | null {
  const match = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? '');
  if (match?.[1] === undefined) {
    if (header !== null && /^Basic\b/i.test(header)) throw invalidClient(ILL_FORMED_BASIC);
    return null;
  }
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient(ILL_FORMED_BASIC);
  const clientId = formDecode(text.slice(0, colon));
  const secret = formDecode(text.slice(colon + 1));
  if (clientId === null || secret === null || clientId === '') throw invalidClient(ILL_FORMED_BASIC);
  return { method: 'client_secret_basic', clientId, secret };
}

const ILL_FORMED_BASIC =
  'the Authorization header is not HTTP Basic with a form-encoded client id and secret (RFC 6749 section 2.3.1)';

function formDecode(value: string): string | null {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
