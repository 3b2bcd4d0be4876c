import { samePerson, type PersonReference, type UserInterface } from '../contracts/person.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Visitor } from './accounts.ts';
import { APPLICATIONS_PATH } from './endpoints/paths.ts';
import { AuthorizationPageError, OAuthError } from './errors.ts';
import { noteClient, quotedList, quotedUri } from './refusals.ts';
import { scopesHeldBy } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import type { AskedPerson, Client, ConsentRequest } from './store/store.ts';
import { keyedHash, randomIdentifier, randomToken, tokenHash } from './crypto.ts';

/**
 * A request for consent: kept here once somebody is signed in, known to the browser by an opaque id alone, bound to the
 * browser session it was asked in and to the person it was put to.
 */

/** What an authorization request asks for, checked against the client. */
export type AuthorizationRequest = Pick<
  ConsentRequest,
  'clientId' | 'redirectUri' | 'scopes' | 'state' | 'nonce' | 'codeChallenge' | 'audience'
>;

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

/** Keeps the request as put to the person at this browser: the question to show, or the answer when there is none to ask. */
export async function ask(
  context: ServerContext,
  request: AuthorizationRequest,
  client: Client,
  visitor: Visitor,
  requestId = randomToken(),
): Promise<Asked> {
  const person = visitor.user.reference;
  const scopes = await scopesHeldBy(context.host, context.scopes, request.scopes, person);
  if (scopes.length === 0) return { answer: denied(request, NOTHING_HELD, nothingHeld(request)) };
  if (await keepRequest(context, request, requestId, visitor, { person, scopes })) {
    return { question: questionOf(request, requestId, client, visitor, scopes) };
  }
  // The same page opened twice at once: the other was quicker.
  const asked = await askAgain(context, requestId, visitor);
  if (asked === null) throw notAnswerable('it was pruned at the same moment');
  return asked;
}

/** The time to answer runs from the moment the question is first put to somebody. */
async function keepRequest(
  context: ServerContext,
  request: AuthorizationRequest,
  requestId: string,
  visitor: Visitor,
  asked: AskedPerson,
): Promise<boolean> {
  const { clientId, redirectUri, scopes, state, nonce, codeChallenge, audience } = request;
  const isKept = await context.store.insertConsentRequest({
    clientId,
    redirectUri,
    scopes,
    state,
    nonce,
    codeChallenge,
    audience,
    idHash: tokenHash(requestId),
    browserHash: tokenHash(visitor.browserSecret),
    asked,
    outcome: null,
    expiresAt: context.clock() + context.config.consent_ttl * 1000,
  });
  await context.pruning.tick();
  return isKept;
}

/**
 * Puts the kept request to the person at this browser again: the question to show, or the answer when there is nothing left
 * to ask; null when no request of this id was ever put to anybody. Throws a page error when it is not this browser's and this
 * person's to answer.
 */
export async function askAgain(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<Asked | null> {
  const kept = await pendingRequest(context, requestId, visitor);
  if (kept === null) return null;
  const client = await requireClient(context, kept);
  const person = visitor.user.reference;
  // As in a second tab, and never for more: the first tab is still open, and what it shows can be answered.
  const scopes = await scopesHeldBy(context.host, context.scopes, kept.asked.scopes, person);
  if (scopes.length === 0) {
    await context.store.voidConsentRequest(kept.idHash);
    return { answer: denied(kept, NOTHING_HELD, nothingHeld(kept)) };
  }
  if (!(await context.store.askAgain(kept, scopes, context.clock()))) {
    throw await endedMeanwhile(context, requestId, visitor);
  }
  return { question: questionOf(kept, requestId, client, visitor, scopes) };
}

/** What comes of putting a request to somebody. */
export type Asked = { readonly question: Question } | { readonly answer: Answer };

const NOTHING_HELD = 'The person holds no permission that the scopes ask for.';

function nothingHeld({ scopes }: AuthorizationRequest): string {
  return `the person holds no permission behind the scopes asked for: ${quotedList(scopes)}`;
}

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
  await requireClient(context, kept);
  const person = visitor.user.reference;
  // Only what was shown can be granted, and only as far as it is still held.
  const scopes = allow ? await scopesHeldBy(context.host, context.scopes, kept.asked.scopes, person) : [];
  const code = randomToken();
  const allowed = scopes.length === 0 ? null : await authorizationOf(context, kept, person, scopes, code);
  if (!(await context.store.answerConsent({ idHash: kept.idHash, person }, allowed, context.clock()))) {
    throw await endedMeanwhile(context, requestId, visitor);
  }
  if (allowed === null) {
    await context.audit({ type: 'consent_denied', clientId: kept.clientId, person });
    return denied(kept, 'The person did not allow it.', allow ? nothingHeld(kept) : 'the person answered no');
  }
  const { id: authorization, clientId, audience } = allowed.family;
  await context.audit({ type: 'consent_granted', authorization, clientId, person, scopes, audience });
  return { redirectUri: kept.redirectUri, state: kept.state, result: { code } };
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

/**
 * The request, when it is pending and this visitor's; null when none of this id was ever put to anybody. Another person in
 * the same browser voids it.
 */
async function pendingRequest(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<ConsentRequest | null> {
  const kept = await context.store.findConsentRequest(tokenHash(requestId));
  if (kept === null) return null;
  noteClient(visitor.request, kept.clientId);
  if (isOfAnotherSecret(context, kept, visitor))
    throw notAnswerable('it was asked in another browser session');
  if (!samePerson(kept.asked.person, visitor.user.reference)) {
    await context.store.voidConsentRequest(kept.idHash);
    throw notAnswerable('it was put to another person');
  }
  if (kept.outcome === 'allowed' || kept.outcome === 'denied') throw answeredBefore(kept.outcome);
  if (kept.outcome === 'void') throw notAnswerable('it was ended without an answer');
  if (kept.expiresAt <= context.clock()) throw notAnswerable('it has expired');
  return kept;
}

/** The request, when it is pending and this visitor's. Throws a page error otherwise. */
export async function requireRequest(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<ConsentRequest> {
  const kept = await pendingRequest(context, requestId, visitor);
  if (kept === null) throw notAnswerable('it is unknown, or expired long ago');
  return kept;
}

/** Why a request that was pending when it was read is so no longer. */
async function endedMeanwhile(context: ServerContext, requestId: string, visitor: Visitor): Promise<Error> {
  await pendingRequest(context, requestId, visitor);
  return notAnswerable('it was put to the person with other scopes at the same moment');
}

/** Tells the log when the answer to a request came with another secret than the question went out with. */
export async function warnOfAnotherSecret(
  context: ServerContext,
  requestId: string,
  visitor: Visitor,
): Promise<void> {
  const kept = await context.store.findConsentRequest(tokenHash(requestId));
  if (kept !== null) isOfAnotherSecret(context, kept, visitor);
}

function isOfAnotherSecret(context: ServerContext, kept: ConsentRequest, visitor: Visitor): boolean {
  if (kept.browserHash === tokenHash(visitor.browserSecret)) return false;
  const isPending = kept.outcome === null && kept.expiresAt > context.clock();
  if (isPending) {
    const requestId = requestIdOf(visitor.request);
    context.host.log.warning(ANOTHER_SECRET, { clientId: kept.clientId, requestId });
  }
  return true;
}

const ANOTHER_SECRET =
  'The question of client {clientId} met another browser secret than it was asked with. If nobody opened it in two browsers, ' +
  'signing in began a session anew and dropped what was in it: keep the value that Host.browserSecret ' +
  'answers (keepSessionInfo: true for passport, session.regenerate([...]) for @fastify/session), see docs/host-contract.md';

/** The client, when it may still be answered where it asked to be. */
async function requireClient(
  context: ServerContext,
  { clientId, redirectUri }: ConsentRequest,
): Promise<Client> {
  const client = await context.clients.find(clientId);
  if (client === null || client.revokedAt !== null) {
    throw notAnswerable(`the client ${clientId} was revoked`);
  }
  if (!client.redirectUris.includes(redirectUri)) {
    throw notAnswerable(
      `the client ${clientId} is no longer registered with the redirect_uri ${quotedUri(redirectUri)}`,
    );
  }
  return client;
}

function denied({ redirectUri, state }: AuthorizationRequest, description: string, detail: string): Answer {
  return { redirectUri, state, result: { error: new OAuthError('access_denied', description, detail) } };
}

/** Also for those whom it is none of their business what came of it: so it says nothing of that. */
export function notAnswerable(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(
    'This request can no longer be answered',
    'It was answered before, took too long, or belongs to another browser or another person. No answer was taken now. ' +
      'Go back to the application and start again.',
    detail,
  );
}

/** For the person who answered, in the browser it was answered in. */
function answeredBefore(outcome: 'allowed' | 'denied'): AuthorizationPageError {
  const [said, detail] =
    outcome === 'allowed'
      ? ['You allowed it.', 'it was allowed before']
      : ['You did not allow it, and nothing was shared.', 'it was denied before'];
  return new AuthorizationPageError(
    'You have answered this request',
    `${said} Your page of applications (${APPLICATIONS_PATH}) shows which applications have access to your account, and ` +
      'takes it back.',
    detail,
    { link: { href: APPLICATIONS_PATH, text: 'Applications with access to your account' } },
  );
}
