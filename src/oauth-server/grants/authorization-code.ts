import type { Parameters } from '../parameters.ts';
import { verifiesChallenge } from '../pkce.ts';
import type { ServerContext } from '../server-context.ts';
import type { AuthorizationCode, Client } from '../store/store.ts';
import { tokenHash } from '../tokens.ts';
import {
  activeAccount,
  invalidGrant,
  prepareTokens,
  requireGrant,
  requireTarget,
  revokeReplayed,
  scopesInForce,
  settleOutcome,
  tellOfReplay,
  type TokenResponse,
} from './token-response.ts';

/** What a token request says about the code it offers. */
interface Presentation {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly resource: string | undefined;
}

/** Exchanges a code (RFC 6749 section 4.1.3, RFC 7636 section 4.6): once, and only for what it was issued for. */
export async function authorizationCodeGrant(
  context: ServerContext,
  client: Client,
  form: Parameters,
): Promise<TokenResponse> {
  const codeHash = tokenHash(form.require('code'));
  const presentation = {
    clientId: client.id,
    redirectUri: form.require('redirect_uri'),
    codeVerifier: form.require('code_verifier'),
    resource: form.get('resource'),
  };
  const now = context.clock();
  const code = await context.store.findCode(codeHash);
  // Codes stand in browser histories: a replay is one by the code's own client, and nobody else can end what it gave.
  if (code?.used === true) {
    if (code.family.clientId === client.id) await revokeReplayed(context, 'authorization_code', code);
  } else if (code !== null && !matches(code, presentation, now)) {
    await burn(context, code, client, now);
  }
  // Only now: in the hands of a client that may not use it, a code is spent all the same.
  requireGrant(client, 'authorization_code');
  if (code === null || code.used || !matches(code, presentation, now)) throw invalidGrant();

  requireTarget(context, code, presentation.resource);
  const user = await activeAccount(context, code.family.person);
  if (user === null) {
    await burn(context, code, client, now);
    throw invalidGrant();
  }
  const scopes = scopesInForce(context, code);
  const prepared = await prepareTokens(context, {
    client,
    family: code.family,
    user,
    scopes,
    nonce: code.nonce,
    now,
  });
  const outcome = await context.store.spendCode(code, prepared.tokens, now);
  return settleOutcome(context, 'authorization_code', code, prepared, outcome);
}

/** Spends the code for nothing; where another request was quicker, that was the first use and this is the second. */
async function burn(
  context: ServerContext,
  code: AuthorizationCode,
  client: Client,
  now: number,
): Promise<void> {
  const ended = await context.store.burnCode(code, client.id, now);
  if (ended) await tellOfReplay(context, 'authorization_code', code);
}

function matches(code: AuthorizationCode, presentation: Presentation, now: number): boolean {
  return (
    code.expiresAt > now &&
    code.family.clientId === presentation.clientId &&
    code.redirectUri === presentation.redirectUri &&
    verifiesChallenge(presentation.codeVerifier, code.codeChallenge) &&
    // Document 2, Errors: like a wrong verifier or callback, where RFC 8707 section 2 would say invalid_target.
    (presentation.resource === undefined || presentation.resource === code.family.audience)
  );
}
