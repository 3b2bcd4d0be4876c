import type { Parameters } from '../parameters.ts';
import { verifiesChallenge } from '../pkce.ts';
import { quotedUri } from '../refusals.ts';
import type { ServerContext } from '../server-context.ts';
import type { AuthorizationCode, Client } from '../store/store.ts';
import { targetName } from '../tokens/resource-indicators.ts';
import { tokenHash } from '../crypto.ts';
import {
  anothersClient,
  expired,
  INACTIVE_ACCOUNT,
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
  const problem = code === null ? null : problemWith(code, presentation, now);
  // Codes stand in browser histories: a replay is one by the code's own client, and nobody else can end what it gave.
  if (code?.used === true) {
    if (code.family.clientId === client.id) await revokeReplayed(context, 'authorization_code', code);
  } else if (code !== null && problem !== null) {
    await burn(context, code, client, now);
  }
  // Only now: in the hands of a client that may not use it, a code is spent all the same.
  requireGrant(client, 'authorization_code');
  if (code === null) throw invalidGrant('the code is unknown');
  if (problem !== null) throw invalidGrant(problem);

  requireTarget(context, code, presentation.resource);
  const user = await context.accounts.active(code.family.person);
  if (user === null) {
    await burn(context, code, client, now);
    throw invalidGrant(INACTIVE_ACCOUNT);
  }
  const scopes = scopesInForce(context, code);
  const prepared = await prepareTokens(context, {
    client,
    family: code.family,
    user,
    scopes,
    nonce: code.nonce,
    shared: null,
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

/** Why the code cannot be exchanged as it was offered; null when it can. */
function problemWith(code: AuthorizationCode, presentation: Presentation, now: number): string | null {
  const { clientId, redirectUri, codeVerifier, resource } = presentation;
  if (code.family.clientId !== clientId) return anothersClient('code', code);
  if (code.used) return 'the code was used before; its authorization is revoked';
  if (code.expiresAt <= now) return expired('code', code);
  if (code.redirectUri !== redirectUri) {
    return `the redirect_uri is ${quotedUri(redirectUri)}, the code was asked for with ${quotedUri(code.redirectUri)}`;
  }
  if (!verifiesChallenge(codeVerifier, code.codeChallenge)) return 'the code_verifier is wrong';
  // Document 2, Errors: like a wrong verifier or callback, where RFC 8707 section 2 would say invalid_target.
  if (resource !== undefined && resource !== code.family.audience) {
    return `the resource is ${quotedUri(resource)}, the code was granted for ${targetName(code.family.audience)}`;
  }
  return null;
}
