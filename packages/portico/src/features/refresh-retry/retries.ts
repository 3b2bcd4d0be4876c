import { derivedKey, openText, sealText, tokenHash } from '../../crypto.ts';
import type { KeptAnswer, RefreshToken } from '../../store/grant.ts';
import { CLOCKS_DIFFER, type Server } from '../../server.ts';
import { getTokenType, type KeyBinding } from '../../tokens/key-binding.ts';
import type { TokenResponse } from '../../grants/grant.ts';
import type { PreparedTokens } from '../../grants/issuing.ts';
import { invalidGrant, secondsLeft } from '../../grants/outcome.ts';
import type { TokenRequest } from '../../grants/lost-answers.ts';
import type { RefreshRules, SecondUses } from '../../grants/repeated-answers.ts';

/**
 * A stored response before encryption. It contains no ID token: Portico signs a new one with the
 * user's current data and permissions.
 */
interface Sealed {
  readonly access: string;
  readonly refresh: string;
  readonly scopes: readonly string[];
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The thumbprint of the key of a bound access token. */
  readonly thumbprint?: string;
}

/**
 * Repeats the last response to a refresh token, with the same tokens (decision 37). This works for
 * `refresh_retry_seconds`, and only until the client uses the new refresh token. Only the old
 * refresh token can decrypt the stored response.
 */
export class RefreshRetries implements SecondUses {
  readonly #server: Server;
  readonly #window: number;
  readonly #rules: RefreshRules;
  readonly #binding: KeyBinding | null;

  /** `window` is in milliseconds. `binding` is null if the server does not bind tokens. */
  constructor(server: Server, window: number, rules: RefreshRules, binding: KeyBinding | null) {
    this.#server = server;
    this.#window = window;
    this.#rules = rules;
    this.#binding = binding;
  }

  seal(
    presented: string,
    token: RefreshToken,
    { tokens, response }: PreparedTokens,
    now: number,
  ): string {
    const { scopes, expiresAt, thumbprint } = tokens.accessToken;
    const { access_token: access, refresh_token: refresh = '' } = response;
    const bound = thumbprint === null ? {} : { thumbprint };
    const content: Sealed = { access, refresh, scopes, expiresAt, ...bound };
    return sealText(
      getKey(presented),
      describeUse(token, token.generation + 1, now),
      JSON.stringify(content),
    );
  }

  async answer(
    { client, form, thumbprint }: TokenRequest,
    presented: string,
    token: RefreshToken,
  ): Promise<TokenResponse | null> {
    const { store, audit, clock } = this.#server;
    const { family } = token;
    const kept = await store.refreshTokens.findKeptAnswer(family.id);
    const sealed = kept === null ? null : this.#open(presented, token, kept);
    if (sealed === null) return null;
    const { access, refresh, scopes, expiresAt } = sealed;
    this.#rules.requireSame(client, form, token, scopes);
    if ((sealed.thumbprint ?? null) !== thumbprint) {
      // A public client proves only that it has the refresh token. If two senders use it with
      // different keys within seconds, one of them has stolen it.
      if (client.public) return null;
      throw invalidGrant(
        'a moment ago, the refresh token was used with a different key or without a key',
      );
    }
    const response: TokenResponse = {
      access_token: access,
      token_type: getTokenType(this.#binding, thumbprint),
      expires_in: secondsLeft(expiresAt, clock()),
      scope: '',
      refresh_token: refresh,
    };
    const grant = { family, nonce: null, thumbprint };
    const answer = await this.#rules.again(client, form, grant, { scopes, response });
    const about = { authorization: family.id, clientId: family.clientId, person: family.person };
    await audit({ type: 'refresh_token_retried', ...about });
    return answer;
  }

  /**
   * Returns the stored response, or null after the retry period or after the client has used the
   * response's refresh token.
   */
  #open(presented: string, token: RefreshToken, kept: KeptAnswer): Sealed | null {
    const now = this.#server.clock();
    if (kept.usedAt + this.#window <= now || kept.expiresAt <= now) return null;
    // Without this check, a clock that is set back would make the retry period longer.
    if (kept.usedAt > now + CLOCKS_DIFFER) return null;
    const text = openText(
      getKey(presented),
      describeUse(token, kept.generation, kept.usedAt),
      kept.sealed,
    );
    if (text === null) return null;
    const sealed = JSON.parse(text) as Sealed;
    return tokenHash(sealed.refresh) === kept.currentHash ? sealed : null;
  }
}

/**
 * The store contains only a hash of the refresh token, so a copy of the store does not reveal the
 * key.
 */
function getKey(presented: string): Uint8Array {
  return derivedKey(presented, 'portico/refresh-answer');
}

/**
 * Returns what an encrypted response is bound to: its row and the use of the refresh token. The
 * response cannot be decrypted in another context.
 */
function describeUse({ family }: RefreshToken, generation: number, usedAt: number): string {
  return JSON.stringify([family.id, generation, family.clientId, usedAt]);
}
