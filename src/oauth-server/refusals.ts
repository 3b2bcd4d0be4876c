import { requestIdOf } from '../http/request-id.ts';
import {
  AuthorizationPageError,
  BearerError,
  BodyTooLargeError,
  OAuthError,
  TooManyFailuresError,
} from './errors.ts';
import { callerAddress, type Host } from './host.ts';

/** A request that was refused. */
export interface Refused {
  /** The endpoint's name; `token()` for a route of the host's own. */
  readonly endpoint: string;
  /** Null when the host did not say which it was. */
  readonly request: Request | null;
  readonly error: Error;
  /** Null when it is not known who asked. */
  readonly clientId: string | null;
}

/** Writes the one line that tells of it: which request, of whom, from where, and which of the possible reasons it was. */
export function logRefusal(
  host: Pick<Host, 'log' | 'clientAddress'>,
  { endpoint, request, error, clientId }: Refused,
): void {
  host.log.info('{endpoint} refused: {error} ({detail})', {
    endpoint,
    requestId: request === null ? null : requestIdOf(request),
    ...reasonOf(error),
    clientId,
    address: request === null ? null : knownAddress(host, request),
  });
}

/** As `callerAddress`, but a host that fails to say it does not stop the refusal. */
function knownAddress(host: Pick<Host, 'clientAddress'>, request: Request): string | null {
  try {
    return callerAddress(host, request);
  } catch {
    return null;
  }
}

function reasonOf(error: Error): { readonly error: string; readonly detail: string } {
  if (error instanceof OAuthError) return { error: error.code, detail: error.detail ?? error.message };
  if (error instanceof BearerError) return { error: error.code, detail: error.detail ?? error.message };
  if (error instanceof AuthorizationPageError) {
    return { error: 'not_redirected', detail: error.detail ?? `${error.title}: ${error.message}` };
  }
  if (error instanceof TooManyFailuresError) {
    return { error: 'too_many_failures', detail: `the next attempt in ${error.retryAfter} s` };
  }
  if (error instanceof BodyTooLargeError) return { error: 'body_too_large', detail: error.message };
  return { error: error.name, detail: error.message };
}

const clients = new WeakMap<Request, string>();

/** Says which client a request is of, for the line that tells of its refusal. */
export function noteClient(request: Request, clientId: string): void {
  clients.set(request, clientId);
}

export function notedClient(request: Request): string | null {
  return clients.get(request) ?? null;
}

// --- what strangers sent, as a log may hold it ----------------------------------------------------------------

const MOST_CHARACTERS = 200;
/** As long as a secret, a token or a code of this server: somebody may have put one in the wrong place. */
const LIKE_A_SECRET = /[A-Za-z0-9_-]{43,}/g;
/** RFC 7636 section 4.1. The host of a URI may look like one, and is shown. */
const LIKE_A_VERIFIER = /(?<!:\/\/[^/]*)[A-Za-z0-9._~-]{43,}/g;
/** What the cut may have made shorter than it was, and so unlike a secret. */
const CUT_OFF = /[A-Za-z0-9._~-]+$/;

/** In quotes, cut, without characters that are not seen, and without what may be a secret. */
export function quoted(text: string): string {
  const cut =
    text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).replace(CUT_OFF, '')}…` : text;
  const plain = cut
    .replaceAll(LIKE_A_SECRET, '[…]')
    .replaceAll(LIKE_A_VERIFIER, '[…]')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16) ?? ''}}`);
  return `"${plain}"`;
}

/** Without the parts that applications put secrets in: what stands before an @, the query and the fragment. */
export function quotedUri(uri: string): string {
  return quoted(uri.replace(/[?#].*$/s, (rest) => `${rest.slice(0, 1)}…`).replace(/\/\/[^/?#]*@/, '//…@'));
}

/** At most ten of them. */
export function quotedList(names: readonly string[]): string {
  const shown = names.slice(0, 10).map(quoted).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** A client id that nobody has may be anything, a secret too; one of this server's form is shown. */
export function quotedClientId(clientId: string): string {
  return /^[0-9a-f]{32}$/.test(clientId)
    ? quoted(clientId)
    : `that was sent; it has ${clientId.length} characters and may be a secret, so it is not shown`;
}
