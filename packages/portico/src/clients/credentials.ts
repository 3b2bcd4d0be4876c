import { OAuthError } from '../errors.ts';
import type { JwsError, Jws } from '../keys/jws/compact.ts';
import type { Parameters } from '../parameters.ts';

/**
 * The client authentication methods of the token endpoint (RFC 7591). `none` is for public clients.
 */
export const CLIENT_AUTHENTICATION_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'none',
] as const;

/** The method of clients with keys. A feature must verify their assertions. */
export const PRIVATE_KEY_JWT = 'private_key_jwt';

export type Credentials =
  SecretCredentials | AssertionCredentials | { readonly method: 'none'; readonly clientId: string };

export interface AssertionCredentials {
  readonly method: 'assertion';
  readonly type: string;
  /** Empty if neither the form nor the assertion contains the client id. */
  readonly clientId: string;
  /** The error if the assertion cannot be parsed. */
  readonly assertion: Jws | JwsError;
}

export interface AssertionReader {
  readonly isSent: (form: Parameters) => boolean;
  /** Call this only after `isSent` returned true. `clientId` is the client id in the form. */
  readonly read: (form: Parameters, clientId: string | undefined) => AssertionCredentials;
}

export interface SecretCredentials {
  readonly method: 'client_secret_basic' | 'client_secret_post';
  readonly clientId: string;
  readonly secret: string;
}

/**
 * Reads the client credentials in a request (RFC 6749 sections 2.3.1 and 3.2.1), and assertions if
 * the server accepts them (RFC 7521 section 4.2).
 *
 * Throws `invalid_client` for malformed credentials or a missing client id. Throws
 * `invalid_request` for two credentials or two different client ids.
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
    throw new OAuthError(
      'invalid_request',
      'The client_id in the body is not the one that authenticates.',
    );
  }
  return basic;
}

/** The client gets the same response for every reason. `detail` is for the log. */
export function invalidClient(detail: string): OAuthError {
  return new OAuthError(
    'invalid_client',
    'The client is unknown or could not be authenticated.',
    detail,
  );
}

/**
 * Returns the form-decoded client id and secret from HTTP Basic (RFC 6749 section 2.3.1). Returns
 * null without such a header.
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
  if (clientId === null || secret === null || clientId === '')
    throw invalidClient(ILL_FORMED_BASIC);
  return { method: 'client_secret_basic', clientId, secret };
}

const ILL_FORMED_BASIC =
  'the Authorization header is not HTTP Basic with a form-encoded client id and secret (RFC ' +
  '6749 section 2.3.1)';

function formDecode(value: string): string | null {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
