import type { ClientSecrets } from './client-secrets.ts';
import type { Clients } from './clients.ts';
import { OAuthError } from './errors.ts';
import type { Parameters } from './parameters.ts';
import type { Client } from './store/store.ts';

/** How clients authenticate at the token endpoint, by the names of RFC 7591; `none` is for public clients. */
export const CLIENT_AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

interface Credentials {
  readonly clientId: string;
  /** Null when only the client id was sent. */
  readonly secret: string | null;
}

/**
 * The client that sent this request: authenticated by its secret when it is confidential, identified by its id when
 * it is public (RFC 6749 sections 2.3 and 3.2.1). Throws `invalid_client`, or `invalid_request` for credentials sent twice.
 */
export async function authenticateClient(
  request: Request,
  form: Parameters,
  { clients, clientSecrets }: { readonly clients: Clients; readonly clientSecrets: ClientSecrets },
): Promise<Client> {
  const { clientId, secret } = credentialsOf(request, form);
  const client = await clients.find(clientId);
  const living = client !== null && client.revokedAt === null ? client : null;
  if (secret !== null) {
    if ((await clientSecrets.verify(living, secret)) && living !== null) return living;
    throw unauthenticated();
  }
  if (living === null || !living.public) throw unauthenticated();
  return living;
}

function credentialsOf(request: Request, form: Parameters): Credentials {
  const basic = basicCredentials(request.headers.get('authorization'));
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  if (basic === null) {
    if (clientId === undefined) throw unauthenticated();
    return { clientId, secret: secret ?? null };
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

/** The credentials of HTTP Basic, form-decoded (RFC 6749 section 2.3.1); null when another scheme or none is used. */
function basicCredentials(header: string | null): Credentials | null {
  const match = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header?.trim() ?? '');
  if (match?.[1] === undefined) {
    if (header !== null && /^Basic\b/i.test(header.trim())) throw unauthenticated();
    return null;
  }
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw unauthenticated();
  const clientId = formDecode(text.slice(0, colon));
  const secret = formDecode(text.slice(colon + 1));
  if (clientId === null || secret === null || clientId === '') throw unauthenticated();
  return { clientId, secret };
}

function formDecode(value: string): string | null {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function unauthenticated(): OAuthError {
  return new OAuthError('invalid_client', 'The client is unknown or could not be authenticated.');
}
