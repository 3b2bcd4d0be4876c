import { isYes } from '../host/accounts.ts';
import { RegistrationError } from '../errors.ts';
import { isLoopback } from '../http/loopback.ts';
import type { ApplicationType } from '../store/client.ts';
import { uriTextProblem } from '../http/outbound/uri-text.ts';

/**
 * Matches a URL with credentials, even empty ones (`https://@host/`). URL parsers do not report
 * empty credentials.
 */
const EMPTY_CREDENTIALS = /^[^:]+:\/\/[^/?#\\]*@/;
const HTTP_URL = /^https?:\/\/[^/\\]/i;
/**
 * Matches a URI with a private-use scheme: a reversed domain name such as `com.example.app`.
 * Unrelated applications could choose the same name without a dot (RFC 8252 sections 7.1 and 8.4).
 */
const PRIVATE_USE = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:./;
/** Matches a loopback redirect URI. The port must not be 0 or start with a zero. */
const LOOPBACK =
  /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9]\d{0,4}))?([/?][\x21-\x7E]*)?$/;
const HIGHEST_PORT = 65_535;
/** The parameters that an authorization response can add to a redirect URI. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'] as const;

/**
 * Returns why this URI cannot be a redirect URI, or null if it can.
 *
 * - It must be an absolute https URL without wildcards and fragments. On loopback, http is also
 *   allowed (RFC 6749 section 3.1.2, RFC 9700 section 4.1).
 * - A native application may use a private-use scheme (RFC 8252 section 7.1).
 * - `allowedSchemes` are the schemes without a dot that an operator allows for this client.
 */
export function redirectUriProblem(
  uri: string,
  applicationType: ApplicationType = 'web',
  allowedSchemes: readonly string[] = [],
): string | null {
  const problemOfText = uriTextProblem(uri);
  if (problemOfText !== null) return problemOfText;
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const url = new URL(uri);
  if (uri.includes('*')) return 'contains a wildcard; register each redirect URI in full';
  if (uri.includes('#')) return 'has a fragment; remove it';
  if (url.username !== '' || url.password !== '' || EMPTY_CREDENTIALS.test(uri))
    return 'contains a user name or password; remove them';
  const problem =
    applicationType === 'native' ? nativeProblem(uri, url, allowedSchemes) : webProblem(uri, url);
  if (problem !== null) return problem;
  const taken = RESPONSE_PARAMETERS.find((name) => url.searchParams.has(name));
  if (taken !== undefined)
    return `has the parameter ${taken} in its query, which Portico adds to the response; remove it`;
  return null;
}

function webProblem(uri: string, url: URL): string | null {
  if (!HTTP_URL.test(uri)) return 'is not an absolute https URL';
  if (url.protocol === 'http:' && !isLoopback(url)) {
    return 'must be https (http is allowed only on loopback: localhost, 127.0.0.1, [::1])';
  }
  return null;
}

function nativeProblem(uri: string, url: URL, allowedSchemes: readonly string[]): string | null {
  if (DOTTED_SYSTEM_SCHEME.test(uri))
    return 'has a scheme that an operating system handles; use one such as com.example.app';
  if (PRIVATE_USE.test(uri)) return null;
  if (allowedSchemes.some((scheme) => hasScheme(uri, scheme))) return null;
  if (url.protocol === 'https:') return webProblem(uri, url);
  if (url.protocol !== 'http:') {
    return (
      'must be https or have a private-use scheme with a dot, such as ' +
      'com.example.app:/callback'
    );
  }
  return loopbackParts(uri) === null
    ? 'must be https (http is allowed only at http://127.0.0.1, http://[::1] and http://localhost)'
    : null;
}

/** Returns true if the URI is this exact scheme, a colon, and more text. */
function hasScheme(uri: string, scheme: string): boolean {
  return uri.startsWith(`${scheme}:`) && uri.length > scheme.length + 1;
}

/**
 * These schemes do not identify one application: browsers, operating systems or several programs
 * handle them. `SYSTEM_SCHEME` matches more of them, for example Windows settings (`ms-…`, `…-ms`).
 */
const NOT_PRIVATE = new Set(
  (
    'about acct blob cid content data dav dns file filesystem ftp geo git gopher http https ' +
    'imap intent irc jar javascript ldap ldaps magnet ' +
    'mailto market mid mms moz-extension news nfs nntp pop resource rtsp sftp shell sip sips ' +
    'sms smb ssh svn tel telnet tftp urn vbscript ' +
    'view-source web ws wss xmpp'
  ).split(' '),
);
const SYSTEM_SCHEME = /^(?:ms-.*|.*-ms|web\+.*|chrome.*|x-apple.*|itms.*)$/;
/** For example `x-apple.systempreferences`. */
const DOTTED_SYSTEM_SCHEME = /^(?:ms-|web\+|x-apple|microsoft\.windows)[^:]*\.[^:]*:/;

/** Returns why `allowedSchemes` cannot contain this scheme, or null if it can. */
function schemeProblem(scheme: string): string | null {
  if (!/^[a-z][a-z0-9+-]*$/.test(scheme)) {
    return (
      'must begin with a letter and have only lower-case letters, digits, + and - (no colon), ' +
      'for example myapp'
    );
  }
  if (NOT_PRIVATE.has(scheme) || SYSTEM_SCHEME.test(scheme))
    return 'is not a private-use scheme, so no client can use it; use one such as com.example.app';
  return null;
}

/** Returns where a response goes, for pages: a host with its port, or an application's scheme. */
export function answerGoesTo(uri: string): string {
  const { host, protocol } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

export interface RedirectedClient {
  readonly redirectUris: readonly string[];
  readonly applicationType: ApplicationType;
}

/** Returns true if a response for this client may go to this redirect URI. */
export type MayRedirect = (client: RedirectedClient, uri: string) => boolean;

/**
 * Returns a check that accepts exact matches with registered URIs (RFC 9700 section 4.1.3), and the
 * URIs that a check in `others` accepts.
 */
export function mayRedirectWith(others: readonly MayRedirect[]): MayRedirect {
  return (client, uri) =>
    client.redirectUris.includes(uri) || others.some((accepts) => isYes(accepts(client, uri)));
}

/**
 * Splits a loopback redirect URI at its port. Returns null for any other URI. Only the port may
 * differ from the registered URI. So callers compare texts: a URL parser would accept several
 * spellings of one URL.
 */
export function loopbackParts(
  uri: string,
): { readonly host: string; readonly rest: string } | null {
  const [, host, port, rest = ''] = LOOPBACK.exec(uri) ?? [];
  if (host === undefined || Number(port ?? 80) > HIGHEST_PORT) return null;
  return { host, rest };
}

/**
 * Adds the response parameters to the redirect URI's query (RFC 6749 section 4.1.2). The rest of
 * the URI stays the same.
 */
export function redirectWith(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.append(name, value);
  const at = uri.indexOf('?');
  // Only the first question mark starts the query.
  const separator = at < 0 ? '?' : at === uri.length - 1 || uri.endsWith('&') ? '' : '&';
  return `${uri}${separator}${query}`;
}

/**
 * Returns the redirect URIs without duplicates. Throws a RegistrationError if one is invalid. Does
 * not check URIs that the client already had (`before`).
 */
export function checkRedirectUris(
  uris: readonly string[],
  allowedSchemes: readonly string[],
  applicationType: ApplicationType,
  before: readonly string[] = [],
): readonly string[] {
  requireSchemes(allowedSchemes, uris, applicationType);
  for (const uri of uris) {
    if (before.includes(uri)) continue;
    const problem = redirectUriProblem(uri, applicationType, allowedSchemes);
    if (problem !== null)
      throw new RegistrationError(`The redirect URI ${JSON.stringify(uri)} ${problem}`);
  }
  return [...new Set(uris)];
}

/** Throws for an invalid or unused scheme, or if the application is not native. */
function requireSchemes(
  schemes: readonly string[],
  uris: readonly string[],
  applicationType: ApplicationType,
): void {
  for (const scheme of schemes) {
    const named = JSON.stringify(scheme);
    const problem = schemeProblem(scheme);
    if (problem !== null) throw new RegistrationError(`The scheme ${named} ${problem}`);
    if (applicationType !== 'native') {
      throw new RegistrationError(
        `The scheme ${named} is only for native applications; add --native`,
      );
    }
    if (!uris.some((uri) => hasScheme(uri, scheme))) {
      throw new RegistrationError(
        `No redirect URI has the scheme ${named}; add one, or remove --allow-scheme`,
      );
    }
  }
}
