import { tokenHash } from '../../crypto.ts';
import { OAuthError } from '../../errors.ts';
import { CodeExchange } from '../../grants/code-exchange.ts';
import type { GrantType } from '../../grants/grant-types.ts';
import type { TokenGrant, TokenResponse } from '../../grants/grant.ts';
import { invalidGrant } from '../../grants/outcome.ts';
import type { GrantParts } from '../../grants/parts.ts';
import { naming, requireSameResource } from '../../grants/stored-grant.ts';
import type { Parameters } from '../../parameters.ts';
import { quotedList } from '../../quoting.ts';
import type { Client } from '../../store/client.ts';
import type { AuthorizationCode } from '../../store/grant.ts';
import type { ProvedKey } from '../../tokens/key-binding.ts';
import { scopesHeldBy } from '../../tokens/scopes.ts';
import { DEVICE_GRANT, requireDeviceClient } from './clients.ts';
import type { DeviceCodes, DeviceRequest } from './codes.ts';

/**
 * How much too early a device may poll, in milliseconds. The network delays some requests more than
 * others, so an exact limit would reject devices that wait correctly.
 */
const SLACK = 1000;
/** How much the interval grows after an early poll, in milliseconds. */
const GROWTH = 5000;

export function deviceGrant(codes: DeviceCodes): GrantType {
  return {
    name: DEVICE_GRANT,
    begins: 'person',
    clients: 'any',
    isForOperators: true,
    grant: (parts) => new DeviceCodeGrant(parts, codes),
  };
}

/**
 * Tells a device whether the user has answered, and issues tokens once (RFC 8628 sections 3.4 and
 * 3.5). A second use of a device code revokes nothing. The code never passes through a browser, and
 * a device may send it in two requests at the same time.
 */
class DeviceCodeGrant implements TokenGrant {
  readonly #parts: GrantParts;
  readonly #codes: DeviceCodes;
  readonly #exchange: CodeExchange;

  constructor(parts: GrantParts, codes: DeviceCodes) {
    this.#parts = parts;
    this.#codes = codes;
    this.#exchange = new CodeExchange(parts, {
      grantType: DEVICE_GRANT,
      secondUse: 'refused',
      scopesOf: (code, inForce) => this.#held(code, inForce),
    });
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { clock, profiles } = this.#parts.server;
    requireDeviceClient(client, profiles);
    const deviceHash = tokenHash(form.require('device_code'));
    const now = clock();
    const found = await this.#codes.findByDevice(deviceHash);
    if (found === null) throw invalidGrant('the device code is unknown');
    if (found.clientId !== client.id)
      throw invalidGrant(`the device code was issued to the client ${found.clientId}`);
    requireSameResource(found, form.get('resource'));
    const answered = found.outcome === null ? await this.#wait(found, now) : found;
    const code = await this.#codeOf(answered, now);
    // Mark the proof as used only if there is a code to exchange. Otherwise, a refused device code
    // would be enough to add a row to the store with each request.
    if (proved !== null) await proved.claim();
    return naming(code.family, () =>
      this.#exchange.exchange(code, { client, form, thumbprint: proved?.thumbprint ?? null }, now),
    );
  }

  /**
   * Returns the answered request. Otherwise, throws an OAuthError that tells the device to wait or
   * to stop.
   */
  async #wait(request: DeviceRequest, now: number): Promise<DeviceRequest> {
    if (request.expiresAt <= now) throw expiredToken(request);
    const limits = { slack: SLACK, growth: GROWTH };
    const polled = await this.#codes.poll(request.deviceHash, now, limits);
    if (polled === 'early')
      throw new OAuthError('slow_down', 'Wait 5 seconds longer before each request from now on.');
    if (polled === 'waits')
      throw new OAuthError('authorization_pending', 'The person has not answered yet.');
    const answered = await this.#codes.findByDevice(request.deviceHash);
    if (answered === null || answered.outcome === null)
      throw invalidGrant('the device code was removed');
    return answered;
  }

  /**
   * Returns the code of an allowed request. Throws if the request was denied or ended, or if the
   * code was used or has expired.
   */
  async #codeOf(request: DeviceRequest, now: number): Promise<AuthorizationCode> {
    const { outcome, granted } = request;
    if (outcome === 'void') throw expiredToken(request);
    if (outcome === 'denied' || granted === null) throw denied('the person denied the request');
    const { familyId, hash } = granted;
    const code = await this.#parts.server.store.codes.findCode({ id: familyId, hash });
    if (code === null) throw invalidGrant('the authorization of the device code was removed');
    if (code.used) throw invalidGrant('the device code was used before');
    if (code.expiresAt <= now) throw expiredToken({ expiresAt: code.expiresAt });
    return code;
  }

  /**
   * Returns the scopes that the user still has permissions for. Throws if there are no such scopes.
   */
  async #held(
    { family }: AuthorizationCode,
    inForce: readonly string[],
  ): Promise<readonly string[]> {
    const { host, scopes: catalog } = this.#parts.server;
    const held = await scopesHeldBy(host, catalog, inForce, family.person);
    if (held.length > 0) return held;
    throw denied(
      `the person has no permission for any of the allowed scopes: ${quotedList(inForce)}`,
    );
  }
}

function denied(detail: string): OAuthError {
  return new OAuthError('access_denied', 'The person did not allow it.', detail);
}

function expiredToken(ended: {
  readonly expiresAt: number;
  readonly outcome?: DeviceRequest['outcome'];
}): OAuthError {
  const at = new Date(ended.expiresAt).toISOString();
  return new OAuthError(
    'expired_token',
    'The device code has expired; ask for another one.',
    ended.outcome === 'void'
      ? 'oauth:restored ended the request'
      : `the device code expired at ${at}`,
  );
}
