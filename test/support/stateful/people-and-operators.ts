import { AccessError, RegistrationError } from 'portico';
import { isRedirect, formOf } from '../visitor.ts';
import { answerOf, CHALLENGE, NONCE } from './applications.ts';
import { ISSUER, reference, type Browser } from './installation.ts';
import {
  clientNamed,
  get,
  KEYS,
  LOOPBACK_URI,
  nodeOf,
  REDIRECT_URI,
  type Known,
  type KnownClient,
} from './known.ts';
import { CODE_GRANTS, type Ask, type Deed, type Reply } from './other-rules.ts';
import type { Answer } from './token-rules.ts';
import { PERSONAL, SCOPES, type ClientKind } from './world.ts';

/**
 * What people do in their browsers and operators do on the console. The results are in the terms of
 * the model.
 */

const STATE = 'the-state';
/** The text of each scope on the consent screen. */
const LABELS: Readonly<Record<(typeof SCOPES)[number], string>> = {
  openid: 'Confirm who you are',
  profile: 'See your profile, such as your name',
  email: 'See your email address',
  'notes:read': 'Read your notes',
  'notes:write': 'Write notes for you',
};

export async function ask(known: Known, request: Ask, at: number): Promise<Answer> {
  const { client: name, person, question, scope } = request;
  const client = get(known.clients, name);
  const asked = new URL('/oauth/authorize', ISSUER);
  asked.search = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope: scope.join(' '),
    state: STATE,
    nonce: NONCE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  }).toString();
  const node = nodeOf(known, at);
  const response = await answerOf(node, new Request(asked), { person } satisfies Browser);
  if (isRedirect(response)) return redirected(response, client);
  if (response.status !== 200) return page(response);
  const html = await response.clone().text();
  known.screens.set(question, response);
  return { is: 'question', scopes: SCOPES.filter((each) => html.includes(LABELS[each])) };
}

/** Reads a redirect (AS-7.4): to the client, with `state` and `iss`, or to the sign-in page. */
function redirected(response: Response, { redirectUri }: Pick<KnownClient, 'redirectUri'>): Answer {
  const to = new URL(response.headers.get('location') ?? '', ISSUER);
  if (to.origin === ISSUER && to.pathname === '/login') return { is: 'sign-in' };
  const { searchParams: told } = to;
  if (!to.href.startsWith(`${redirectUri}?`)) return { is: 'redirected', to: to.href };
  if (told.get('state') !== STATE || told.get('iss') !== ISSUER)
    throw new Error(`Not as it was asked: ${to.href}`);
  return { is: 'redirected', error: told.get('error') ?? 'none' };
}

function page(response: Response): Answer {
  const isHtml = (response.headers.get('content-type') ?? '').startsWith('text/html');
  return isHtml && response.status < 500
    ? { is: 'page' }
    : { is: 'a fault', status: response.status };
}

export async function reply(
  known: Known,
  request: Reply,
  { person, client }: { readonly person: string; readonly client: string },
  at: number,
): Promise<Answer> {
  const { question, allows, family } = request;
  const screen = get(known.screens, question);
  const { fields } = formOf(await screen.clone().text());
  const body = new URLSearchParams({ ...fields, decision: allows ? 'allow' : 'deny' });
  const headers = { Origin: 'null' };
  const sent = new Request(`${ISSUER}/oauth/authorize`, { method: 'POST', headers, body });
  const response = await answerOf(nodeOf(known, at), sent, { person } satisfies Browser);
  if (!isRedirect(response)) return page(response);
  const to = new URL(response.headers.get('location') ?? '', ISSUER);
  const { redirectUri } = get(known.clients, client);
  const code = to.searchParams.get('code');
  const told = redirected(response, { redirectUri });
  if (code === null || told['error'] !== 'none') return told;
  const [id = ''] = code.split('.');
  const before = [...known.authorizations].find(([, authorization]) => authorization.id === id);
  known.codes.set(before?.[0] ?? family, code);
  if (before !== undefined) return { is: 'code' };
  known.authorizations.set(family, {
    id: known.installation.lastAuthorization(),
    client,
    subject: `${person} ${known.erasures.get(person) ?? 0}`,
  });
  return { is: 'code' };
}

/** Returns the result. Returns null if the work was rejected and changed nothing. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RegistrationError || error instanceof AccessError) return null;
    throw error;
  }
}

const done = (result: unknown): Answer =>
  result === null ? { is: 'refused by the console' } : { is: 'done' };

export async function perform(known: Known, deed: Deed, at: number): Promise<Answer> {
  const { installation } = known;
  const { access, keys } = installation.console;
  switch (deed.kind) {
    case 'register':
      known.clients.set(deed.client, await register(known, deed.as, at));
      return { is: 'done' };
    case 'prune':
      await nodeOf(known, at).server.prune();
      return { is: 'done' };
    case 'rotate keys':
      await keys.generate('ES256');
      return { is: 'done' };
    case 'suspend':
    case 'restore':
      installation.setActive(deed.person, deed.kind === 'restore');
      return { is: 'done' };
    case 'give':
    case 'take':
      installation.setPermission(deed.person, deed.permission, deed.kind === 'give');
      return { is: 'done' };
    case 'revoke authorization':
      return done(
        await unlessRefused(access.revokeAuthorization(get(known.authorizations, deed.family).id)),
      );
    case 'revoke person':
      return done(await unlessRefused(access.revokePerson(reference(deed.person))));
    case 'erase person': {
      const erased = await unlessRefused(access.erasePerson(reference(deed.person)));
      const { erasures } = known;
      if (erased !== null) erasures.set(deed.person, (erasures.get(deed.person) ?? 0) + 1);
      return done(erased);
    }
    case 'take back':
      return takeBack(known, deed.person, deed.client, at);
    case 'list':
      return list(known, deed.client);
    case 'narrow':
    case 'no refresh':
    case 'no robot':
    case 'refresh again':
    case 'revoke client':
    case 'robot':
    case 'rotate secret':
    case 'widen':
      break;
  }
  return done(await unlessRefused(change(known, deed)));
}

async function list(known: Known, client: string): Promise<Answer> {
  const { items } = await known.installation.console.access.list({
    clientId: get(known.clients, client).id,
  });
  const names = items.map(({ id, client: holder }) => {
    const [name] = [...known.authorizations].find(([, each]) => each.id === id) ?? [
      `an unknown ${id}`,
    ];
    return clientNamed(known, holder.id) === client ? name : `${name} of another client`;
  });
  return { is: 'listed', families: names.toSorted() };
}

async function takeBack(known: Known, person: string, client: string, at: number): Promise<Answer> {
  const node = nodeOf(known, at);
  const address = `${ISSUER}/oauth/applications`;
  const browser: Browser = { person };
  const shown = await answerOf(node, new Request(address), browser);
  if (isRedirect(shown)) return redirected(shown, { redirectUri: ISSUER });
  const html = await shown.text();
  const form = html
    .split('<form')
    .find((each) => each.includes(`"${get(known.clients, client).id}"`));
  if (shown.status !== 200 || form === undefined)
    return { is: shown.status === 200 ? 'not there' : 'a fault' };
  const { fields } = formOf(`<form${form}`);
  const init = { method: 'POST', headers: { Origin: ISSUER }, body: new URLSearchParams(fields) };
  const removed = await answerOf(node, new Request(address, init), browser);
  return { is: removed.status === 303 ? 'done' : `${removed.status} of the page of applications` };
}

async function register(known: Known, kind: ClientKind, at: number): Promise<KnownClient> {
  if (kind === 'registered') return registerItself(known, at);
  const { clients } = known.installation.console;
  const forItself = kind === 'robot';
  const { client, secret } = await clients.create({
    name: `The ${kind} application`,
    ...(forItself ? { grants: ['client_credentials'] } : { redirectUris: [REDIRECT_URI] }),
    scopes: forItself ? SCOPES.filter((each) => !PERSONAL.includes(each)) : SCOPES,
    ...(kind === 'spa' || kind === 'bound' ? { public: true } : {}),
    ...(kind === 'bound' ? { dpopBoundAccessTokens: true } : {}),
    ...(kind === 'keyed'
      ? { jwks: { keys: [KEYS.assertions.jwk] }, idTokenSignedResponseAlg: 'ES256' }
      : {}),
  });
  return {
    id: client.id,
    kind,
    secrets: secret === null ? [] : [secret],
    redirectUri: REDIRECT_URI,
  };
}

/** Registers a client that describes itself (RFC 7591). */
async function registerItself(known: Known, at: number): Promise<KnownClient> {
  const metadata = {
    client_name: 'An application',
    redirect_uris: [LOOPBACK_URI],
    grant_types: CODE_GRANTS,
  };
  const headers = { 'Content-Type': 'application/json' };
  const sent = new Request(`${ISSUER}/oauth/register`, {
    method: 'POST',
    headers,
    body: JSON.stringify(metadata),
  });
  const response = await answerOf(nodeOf(known, at), sent);
  if (response.status !== 201)
    throw new Error(`Not registered: ${response.status} ${await response.text()}`);
  const { client_id: id } = (await response.json()) as { client_id: string };
  return { id, kind: 'registered', secrets: [], redirectUri: LOOPBACK_URI };
}

type Change = Exclude<
  Extract<Deed, { readonly client: string }>,
  { readonly kind: 'register' | 'take back' }
>;

async function change(known: Known, deed: Change): Promise<unknown> {
  const { id, secrets } = get(known.clients, deed.client);
  const { clients } = known.installation.console;
  switch (deed.kind) {
    case 'narrow':
      return clients.update(id, { removeScopes: [deed.scope] });
    case 'widen':
      return clients.update(id, { addScopes: [deed.scope] });
    case 'no refresh':
      return clients.update(id, { removeGrants: ['refresh_token'] });
    case 'refresh again':
      return clients.update(id, { addGrants: ['refresh_token'] });
    case 'robot': {
      const now = await clients.find(id);
      return clients.update(id, {
        removeGrants: now?.grants ?? [],
        addGrants: ['client_credentials'],
        removeRedirectUris: [REDIRECT_URI],
        removeScopes: (now?.scopes ?? []).filter((each) => PERSONAL.includes(each)),
      });
    }
    case 'no robot':
      return clients.update(id, {
        removeGrants: ['client_credentials'],
        addGrants: CODE_GRANTS,
        addRedirectUris: [REDIRECT_URI],
      });
    case 'rotate secret': {
      const rotated = await clients.rotateSecret(id, deed.overlap);
      secrets.push(rotated.secret);
      return rotated;
    }
    case 'revoke client':
      return clients.revoke(id);
    case 'list':
      break;
  }
  throw new Error('A list changes nothing');
}
