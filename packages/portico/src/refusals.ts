import { Note } from './http/note.ts';
import { getRequestId } from './http/request-id.ts';
import {
  AuthorizationPageError,
  BearerError,
  BodyTooLargeError,
  ClientKeysError,
  KeyProofError,
  NotNowError,
  OAuthError,
  TooManyFailuresError,
  TooManyRegistrationsError,
} from './errors.ts';
import { callerAddress, type CompleteHost } from './host/host.ts';

export interface Refused {
  /** Or `token()` for one of your own routes. */
  readonly endpoint: string;
  /** Null if the host did not pass the request. */
  readonly request: Request | null;
  readonly error: Error;
  /** Null if the client is unknown. */
  readonly clientId: string | null;
}

/** Logs the request, the client, its address and the exact reason on one line. */
export function logRefusal(
  host: CompleteHost,
  { endpoint, request, error, clientId }: Refused,
): void {
  host.log.info('{endpoint} refused: {error} ({detail})', {
    endpoint,
    requestId: request === null ? null : getRequestId(request),
    ...reason(error),
    clientId,
    ...((error instanceof OAuthError || error instanceof BearerError) &&
    error.authorization !== null
      ? { authorizationId: error.authorization }
      : {}),
    address: request === null ? null : knownAddress(host, request),
  });
}

/** Returns null if the host throws. Its error must not turn a refusal into a server error. */
function knownAddress(host: CompleteHost, request: Request): string | null {
  try {
    return callerAddress(host, request);
  } catch {
    return null;
  }
}

function reason(error: Error): { readonly error: string; readonly detail: string } {
  return { error: refusalCode(error) ?? error.name, detail: getDetail(error) };
}

/** Returns null for errors that are not refusals. The log and telemetry show the code. */
export function refusalCode(error: Error): string | null {
  if (error instanceof OAuthError || error instanceof BearerError || error instanceof KeyProofError)
    return error.code;
  if (error instanceof AuthorizationPageError) return error.code;
  if (error instanceof TooManyFailuresError) return 'too_many_failures';
  if (error instanceof ClientKeysError) return 'client_keys_unavailable';
  if (error instanceof NotNowError) return error.tooMuch ? 'too_much' : 'not_now';
  if (error instanceof TooManyRegistrationsError) return 'too_many_registrations';
  return error instanceof BodyTooLargeError ? 'body_too_large' : null;
}

function getDetail(error: Error): string {
  if (error instanceof OAuthError || error instanceof BearerError || error instanceof KeyProofError)
    return error.detail ?? error.message;
  if (error instanceof AuthorizationPageError)
    return error.detail ?? `${error.title}: ${error.message}`;
  if (error instanceof TooManyFailuresError)
    return `the next attempt is allowed in ${error.retryAfter} s`;
  if (error instanceof ClientKeysError || error instanceof NotNowError) return error.detail;
  if (error instanceof TooManyRegistrationsError) {
    const whose = error.of === 'network' ? 'from this network' : 'in total';
    return `${whose}; the next registration is allowed in ${error.retryAfter} s`;
  }
  return error.message;
}

const clients = new Note<string>('client');

/** Records which client sent a request. A later refusal can then name the client. */
export function noteClient(request: Request, clientId: string): void {
  clients.set(request, clientId);
}

export function notedClient(request: Request): string | null {
  return clients.of(request) ?? null;
}
