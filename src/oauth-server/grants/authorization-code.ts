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
  requireIssued,
  scopesInForce,
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
  requireGrant(client, 'authorization_code');
  const codeHash = tokenHash(form.require('code'));
  const presentation = {
    clientId: client.id,
    redirectUri: form.require('redirect_uri'),
    codeVerifier: form.require('code_verifier'),
    resource: form.get('resource'),
  };
  const now = context.clock();
  const code = await context.store.findCode(codeHash);
  if (code === null) throw invalidGrant();
  if (code.used) {
    // Offered a second time, so somebody else may hold what the first exchange gave (RFC 6749 section 4.1.2).
    await context.store.revokeFamily(code.family.id, now);
    throw invalidGrant();
  }
  const user = matches(code, presentation, now) ? await activeAccount(context, code.family.person) : null;
  if (user === null) {
    await context.store.burnCode(codeHash, now);
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
  requireIssued(await context.store.spendCode(code, prepared.tokens, now));
  return prepared.response;
}

function matches(code: AuthorizationCode, presentation: Presentation, now: number): boolean {
  return (
    code.expiresAt > now &&
    code.family.clientId === presentation.clientId &&
    code.redirectUri === presentation.redirectUri &&
    verifiesChallenge(presentation.codeVerifier, code.codeChallenge) &&
    (presentation.resource === undefined || presentation.resource === code.family.audience)
  );
}
