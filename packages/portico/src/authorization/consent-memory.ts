import { OAuthError } from '../errors.ts';
import { forEachLiving } from '../grants/living-access.ts';
import type { PersonReference } from '../person.ts';
import type { Client } from '../store/client.ts';
import type { Authorization } from '../store/grant.ts';
import type { Server } from '../server.ts';
import {
  consentDetails,
  consentOf,
  type KeptConsent,
  type RememberedAuthorization,
} from '../store/remembered-consent.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';
import { responseTo, type AuthorizationResponse } from './response.ts';

/** What the consent page would ask. */
export interface AskedConsent {
  readonly asked: AuthorizationRequest;
  readonly client: Client;
  readonly person: PersonReference;
  /** The scopes that the page would ask for. Never empty. */
  readonly scopes: readonly string[];
}

/**
 * Remembers what people allow on the consent page, so that the page can be left out next time. A
 * feature provides it. The memory is a living authorization that is marked with
 * `consentDetails` (store/remembered-consent.ts). The core marks it, and makes sure that it is
 * alive when the new authorization is written.
 */
export interface ConsentMemory {
  /** Whether the page can be left out for this client. The core marks its authorizations. */
  remembers(client: Client): Promise<boolean>;
  /** Returns the authorization in which the person allowed all this. Null to ask. */
  find(consent: AskedConsent): Promise<FoundConsent | null>;
}

/** A living authorization in which the person allowed what a request asks for. */
export interface FoundConsent extends RememberedAuthorization {
  /** What it keeps about the consent. The new authorization inherits it. */
  readonly consent: KeptConsent;
}

/**
 * Records what the person has now refused on the page: all shown scopes except these. What they
 * allowed before, and what began from it, no longer covers a request if it has one of them. It is
 * also recorded while consent is not remembered: an operator may switch it on later.
 */
export async function recordRefusal(
  server: Server,
  { clientId, audience, asked: { person, scopes: shown } }: ConsentRequest,
  allowed: readonly string[],
): Promise<void> {
  const refused = shown.filter((name) => !allowed.includes(name));
  if (refused.length === 0) return;
  const isMeant = ({ family }: Authorization) => {
    const consent = consentOf(family.details);
    if (consent === null || consent.refused === true) return false;
    const isSame = family.clientId === clientId && family.audience === audience;
    return isSame && family.scopes.some((name) => refused.includes(name));
  };
  await forEachLiving(server, person, isMeant, async ({ family: { id, details } }) => {
    const consent = consentOf(details);
    if (consent === null) return;
    const added = consentDetails({ ...consent, refused: true });
    await server.store.authorizations.addDetails(id, added);
  });
}

/**
 * Whether the browser opened this URL as a page. Prefetched pages may never be seen, and scripts
 * and images of other sites can send requests with the session's cookie. A silent request
 * (`prompt=none`) may also be in a frame.
 */
export function isOpened({ method, headers }: Request, silent: boolean): boolean {
  const destination = headers.get('sec-fetch-dest') ?? 'document';
  const isPage = destination === 'document' || (silent && destination === 'iframe');
  const isEarly = EARLY.some((name) => /prefetch|prerender/i.test(headers.get(name) ?? ''));
  return method === 'GET' && isPage && !isEarly;
}

/** The headers with which browsers say that they load a page in advance. */
const EARLY = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'];

/** Returns the response to `prompt=none` if the person must be asked. */
export function notSilent(asked: AuthorizationRequest, client: Client): AuthorizationResponse {
  const detail = 'prompt=none, and no remembered consent covers the request';
  return silentRefusal(asked, client, 'interaction_required', 'The person must be asked.', detail);
}

/** Returns the response to `prompt=none` if the person must sign in, or authenticate again. */
export function notSignedInSilently(
  asked: AuthorizationRequest,
  client: Client,
): AuthorizationResponse {
  const detail = 'prompt=none, and the person must sign in or authenticate again';
  return silentRefusal(asked, client, 'login_required', 'The person must sign in.', detail);
}

function silentRefusal(
  asked: AuthorizationRequest,
  client: Client,
  code: 'interaction_required' | 'login_required',
  description: string,
  detail: string,
): AuthorizationResponse {
  return responseTo(asked, client, { error: new OAuthError(code, description, detail) });
}
