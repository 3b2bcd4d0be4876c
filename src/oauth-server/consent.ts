import type { PersonReference, UserInterface } from '../host/contracts.ts';
import { AuthorizationPageError, OAuthError } from './errors.ts';
import { activeAccount } from './grants/token-response.ts';
import { quotedList } from './refusals.ts';
import { scopesHeldBy } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import type { AskedPerson, Client, ConsentRequest } from './store/store.ts';
import { keyedHash, randomIdentifier, randomToken, tokenHash } from './tokens.ts';

/**
 * A request for consent: kept here, known to the browser by an opaque id alone, bound to the browser session it was
 * asked in and to the person it was put to.
 */

/** What an authorization request asks for, checked against the client. */
export type AuthorizationRequest = Pick<
  ConsentRequest,
  'clientId' | 'redirectUri' | 'scopes' | 'state' | 'nonce' | 'codeChallenge' | 'audience'
>;

/** A person at a browser, for the request at hand. */
export interface Visitor {
  readonly user: UserInterface;
  readonly browserSecret: string;
}

/** A question that is ready to be shown. */
export interface Question {
  readonly requestId: string;
  readonly client: Client;
  readonly user: UserInterface;
  /** Those that the person may grant; never empty. */
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** For this one request, keyed by the browser session. */
  readonly csrfToken: string;
}

/** What came of an authorization request, to be sent to its redirect URI. */
export interface Answer {
  readonly redirectUri: string;
  readonly state: string | null;
  readonly result: { readonly code: string } | { readonly error: OAuthError };
}

/** The signed-in person of this request, if the account may still sign in. */
export async function visitorOf(context: ServerContext, request: Request): Promise<Visitor | null> {
  const person = await context.host.signedIn(request);
  const user = person === null ? null : await activeAccount(context, person);
  return user === null ? null : { user, browserSecret: await context.host.browserSecret(request) };
}

/** Keeps the request for this browser, put to nobody yet unless it says to whom. Returns its id. */
export async function keepRequest(
  context: ServerContext,
  request: AuthorizationRequest,
  browserSecret: string,
  asked: AskedPerson | null = null,
): Promise<string> {
  const requestId = randomToken();
  const { clientId, redirectUri, scopes, state, nonce, codeChallenge, audience } = request;
  await context.store.insertConsentRequest({
    clientId,
    redirectUri,
    scopes,
    state,
    nonce,
    codeChallenge,
    audience,
    idHash: tokenHash(requestId),
    browserHash: tokenHash(browserSecret),
    asked,
    expiresAt: context.clock() + context.config.consent_ttl * 1000,
  });
  await context.pruning.tick();
  return requestId;
}

/** Keeps the request as put to the person at this browser: the question to show, or the answer when there is none to ask. */
export async function askAtOnce(
  context: ServerContext,
  request: AuthorizationRequest,
  client: Client,
  visitor: Visitor,
): Promise<Asked> {
  const person = visitor.user.reference;
  const scopes = await scopesHeldBy(context.host, context.scopes, request.scopes, person);
  if (scopes.length === 0) return { answer: denied(request, NOTHING_HELD, nothingHeld(request)) };
  const requestId = await keepRequest(context, request, visitor.browserSecret, { person, scopes });
  return { question: questionOf(request, requestId, client, visitor, scopes) };
}

/**
 * Puts the kept request to the person at this browser: the question to show, or the answer when there is nothing left
 * to ask. Throws a page error when the request is not this browser's and this person's to answer.
 */
export async function putToPerson(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<Asked> {
  const kept = await requireRequest(context, requestId, visitor);
  const client = await requireClient(context, kept.clientId);
  const person = visitor.user.reference;
  // Asked again, as in a second tab, never for more: the first tab is still open, and what it shows can be answered.
  const asked = kept.asked?.scopes ?? kept.scopes;
  const scopes = await scopesHeldBy(context.host, context.scopes, asked, person);
  if (scopes.length === 0) {
    await context.store.voidConsentRequest(kept.idHash);
    return { answer: denied(kept, NOTHING_HELD, nothingHeld(kept)) };
  }
  const now = context.clock();
  // The time to answer runs from the moment the question is first put to somebody.
  const expiresAt = kept.asked === null ? now + context.config.consent_ttl * 1000 : kept.expiresAt;
  if (!(await context.store.askPerson(kept, { person, scopes }, expiresAt, now))) {
    throw notAnswerable('it was put to somebody else, answered or voided at the same moment');
  }
  return { question: questionOf(kept, requestId, client, visitor, scopes) };
}

/** What comes of putting a request to somebody. */
export type Asked = { readonly question: Question } | { readonly answer: Answer };

const NOTHING_HELD = 'The person holds no permission that the scopes ask for.';

function questionOf(
  { redirectUri }: AuthorizationRequest,
  requestId: string,
  client: Client,
  visitor: Visitor,
  scopes: readonly string[],
): Question {
  const csrfToken = csrfTokenFor(requestId, visitor);
  return { requestId, client, user: visitor.user, scopes, redirectUri, csrfToken };
}

/** Takes the person's answer, once. Throws a page error when there is nothing that this visitor may answer. */
export async function takeAnswer(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
  allow: boolean,
): Promise<Answer> {
  const kept = await requireRequest(context, requestId, visitor);
  // Only what was shown can be granted, and only as far as it is still held.
  if (kept.asked === null) throw notAnswerable('it was never put to anybody');
  await requireClient(context, kept.clientId);
  const person = visitor.user.reference;
  const scopes = allow ? await scopesHeldBy(context.host, context.scopes, kept.asked.scopes, person) : [];
  const code = randomToken();
  const allowed = scopes.length === 0 ? null : await authorizationOf(context, kept, person, scopes, code);
  if (!(await context.store.answerConsent({ idHash: kept.idHash, person }, allowed, context.clock()))) {
    throw notAnswerable('it was answered or voided at the same moment');
  }
  if (allowed === null) {
    await context.audit({ type: 'consent_denied', clientId: kept.clientId, person });
    return denied(kept, 'The person did not allow it.', allow ? nothingHeld(kept) : 'the person answered no');
  }
  const { id: authorization, clientId, audience } = allowed.family;
  await context.audit({ type: 'consent_granted', authorization, clientId, person, scopes, audience });
  return { redirectUri: kept.redirectUri, state: kept.state, result: { code } };
}

/**
 * "Not you?": the request is void and the browser signed out. The same is asked anew, in the new session, of whoever
 * signs in next. Returns the new request's id.
 */
export async function startOver(
  context: ServerContext,
  request: Request,
  requestId: string,
  visitor: Visitor,
): Promise<string> {
  const kept = await requireRequest(context, requestId, visitor);
  await context.store.voidConsentRequest(kept.idHash);
  await context.host.signOut(request);
  return keepRequest(context, kept, await context.host.browserSecret(request));
}

/** The CSRF token of one request, keyed by the browser session: any number of consent screens can be open at once. */
export function csrfTokenFor(requestId: string, visitor: Visitor): string {
  return keyedHash(visitor.browserSecret, 'oauth/consent', requestId);
}

async function authorizationOf(
  context: ServerContext,
  kept: ConsentRequest,
  person: PersonReference,
  scopes: readonly string[],
  code: string,
) {
  const { clientId, audience, redirectUri, codeChallenge, nonce } = kept;
  const subject = await context.store.assignSubject(person, randomIdentifier());
  const expiresAt = context.clock() + context.config.code_ttl * 1000;
  return {
    family: { id: randomIdentifier(), clientId, person, subject, scopes, audience },
    code: { hash: tokenHash(code), redirectUri, codeChallenge, nonce, expiresAt },
  };
}

/** The request, when it is pending and this visitor's. Another person in the same browser voids it. */
async function requireRequest(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<ConsentRequest> {
  const kept = await context.store.findConsentRequest(tokenHash(requestId), context.clock());
  if (kept === null) throw notAnswerable('it is unknown, answered, voided or expired');
  if (kept.browserHash !== tokenHash(visitor.browserSecret)) {
    throw notAnswerable('it was asked in another browser session');
  }
  if (kept.asked !== null && !samePerson(kept.asked.person, visitor.user.reference)) {
    await context.store.voidConsentRequest(kept.idHash);
    throw notAnswerable('it was put to another person');
  }
  return kept;
}

async function requireClient(context: ServerContext, clientId: string): Promise<Client> {
  const client = await context.clients.find(clientId);
  if (client === null || client.revokedAt !== null) {
    throw notAnswerable(`the client ${clientId} was revoked`);
  }
  return client;
}

function samePerson(one: PersonReference, other: PersonReference): boolean {
  return one.provider === other.provider && one.id === other.id;
}

function nothingHeld({ scopes }: AuthorizationRequest): string {
  return `the person holds no permission behind the scopes asked for: ${quotedList(scopes)}`;
}

function denied({ redirectUri, state }: AuthorizationRequest, description: string, detail: string): Answer {
  return { redirectUri, state, result: { error: new OAuthError('access_denied', description, detail) } };
}

function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(
    'This request can no longer be answered',
    'It was answered before, took too long, or belongs to another browser or another person. Nothing was shared. ' +
      'Go back to the application and start again.',
    detail,
  );
}
