import type { MayRedirect } from '../clients/redirect-uris.ts';
import type { Parameters } from '../parameters.ts';
import type { SecurityProfile } from '../profiles.ts';
import { quotedUri } from '../quoting.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationCode } from '../store/grant.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';
import { otherResource, quotedAudience } from '../tokens/resource-indicators.ts';
import { parseToken } from '../tokens/token-formats.ts';
import { CodeExchange } from './code-exchange.ts';
import { requireGrant, type TokenGrant, type TokenResponse } from './grant.ts';
import type { GrantParts } from './parts.ts';
import { invalidGrant } from './outcome.ts';
import { verifiesChallenge } from './pkce.ts';
import { expired, naming, ofAnotherClient, ofAnotherKey } from './stored-grant.ts';

/**
 * Exchanges an authorization code for tokens (RFC 6749 section 4.1.3, RFC 7636 section 4.6). The
 * code works once, and only for its own client.
 */
export class AuthorizationCodeGrant implements TokenGrant {
  readonly #parts: GrantParts;
  readonly #codes: CodeExchange;

  constructor(parts: GrantParts) {
    this.#parts = parts;
    this.#codes = new CodeExchange(parts, {
      grantType: 'authorization_code',
      secondUse: 'revokes',
    });
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { store, clock, profiles } = this.#parts.server;
    const offered = parseToken(form.require('code'));
    const presentation = {
      redirectUri: form.require('redirect_uri'),
      codeVerifier: verifierIn(form, profiles.of(client)),
      resource: form.get('resource'),
      thumbprint: proved?.thumbprint ?? null,
    };
    const now = clock();
    const code = await store.codes.findCode(offered);
    return naming(code?.family ?? null, async () => {
      if (code !== null && proved !== null) await proved.claim();
      const problem =
        code === null
          ? null
          : mismatch(code, client, presentation, {
              mayRedirect: this.#parts.mayRedirect,
              now,
            });
      if (code !== null && problem !== null) {
        // An attacker can find a used code in a browser's history. So a second use ends the
        // authorization only if it comes from the code's own client.
        if (!code.used) await this.#codes.burn(code, client, now);
        else if (code.family.clientId === client.id) await this.#codes.replays.revoke(code);
      }
      // Check the grant type last. Any request with wrong values must first mark the code as used.
      requireGrant(client, 'authorization_code');
      if (code === null) throw invalidGrant('the code is unknown');
      if (problem !== null) throw invalidGrant(problem);
      return this.#codes.exchange(code, { client, form, thumbprint: presentation.thumbprint }, now);
    });
  }
}

function verifierIn(form: Parameters, profile: SecurityProfile | null): string | undefined {
  return profile?.missingVerifierIsWrong === true
    ? form.get('code_verifier')
    : form.require('code_verifier');
}

interface Presentation {
  readonly redirectUri: string;
  /** Undefined only if the client's security profile treats a missing verifier as a wrong one. */
  readonly codeVerifier: string | undefined;
  readonly resource: string | undefined;
  readonly thumbprint: string | null;
}

/** Returns why this request cannot exchange the code, or null. A used code always has a reason. */
function mismatch(
  code: AuthorizationCode,
  client: Client,
  presentation: Presentation,
  { mayRedirect, now }: { readonly mayRedirect: MayRedirect; readonly now: number },
): string | null {
  const { redirectUri, codeVerifier, resource, thumbprint } = presentation;
  const { family, parameters } = code;
  if (family.clientId !== client.id) return ofAnotherClient('code', code);
  if (parameters === null) return 'the code was used before; its authorization is revoked';
  if (code.expiresAt <= now) return expired('code', code);
  if (parameters.redirectUri !== redirectUri) {
    return (
      `the redirect_uri is ${quotedUri(redirectUri)}, but the code was requested ` +
      `with ${quotedUri(parameters.redirectUri)}`
    );
  }
  // A client's document may have changed since the code was issued. Accept the redirect URI that
  // was valid then.
  if (client.registeredBy !== 'document' && !mayRedirect(client, redirectUri)) {
    return `the client is no longer registered with the redirect_uri ${quotedUri(redirectUri)}`;
  }
  if (codeVerifier === undefined) return 'the code_verifier is missing';
  if (!verifiesChallenge(codeVerifier, parameters.codeChallenge))
    return 'the code_verifier is wrong';
  // Like the verifier, the key proves who sent the request (RFC 9449 section 10).
  if (family.thumbprint !== null && family.thumbprint !== thumbprint)
    return ofAnotherKey('code', thumbprint);
  // RFC 8707 section 2 defines `invalid_target` for another resource. This server responds with
  // `invalid_grant`, as for a wrong verifier or redirect URI.
  const other = otherResource(resource, family.audience);
  if (other === null) return null;
  const granted = quotedAudience(family.audience);
  return `the resource is ${other}, but the code was granted for ${granted}`;
}
