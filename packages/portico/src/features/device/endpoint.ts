import { findNetwork } from '../../http/addresses.ts';
import type { AskedAccess } from '../../authorization/request.ts';
import type { ClientAuthentication } from '../../clients/authentication.ts';
import { randomToken, tokenHash } from '../../crypto.ts';
import type { Handler } from '../../endpoints/endpoint.ts';
import { NotNowError } from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import { callerAddress } from '../../host/host.ts';
import { formParameters } from '../../parameters.ts';
import { TOKEN_PATH } from '../../paths.ts';
import { jsonReply, type Reply } from '../../endpoints/replies/responses.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { requireDeviceClient } from './clients.ts';
import type { DeviceCodes } from './codes.ts';
import { newUserCode, shownUserCode } from './user-code.ts';

/** The path below `base_path`. */
export const DEVICE_AUTHORIZATION_PATH = '/oauth/device_authorization';

/** How long both codes are valid, in seconds. */
const LIFETIME = 600;
/** The minimum time between two polls, in seconds. */
const INTERVAL = 5;
/** Limits the waiting codes of public clients. Otherwise, anyone could fill the table. */
const BUDGET = { ofOneNetwork: 100, total: 20_000 } as const;
/** When a client should try again after the limit was reached, in seconds. */
const TRY_AGAIN = 60;
/** A random user code is rarely in use. */
const ATTEMPTS = 3;

/** Handles POST /oauth/device_authorization (RFC 8628 section 3.1). */
export class DeviceAuthorizationEndpoint {
  readonly #server: Server;
  readonly #parts: Parts;
  readonly #codes: DeviceCodes;
  readonly #verificationUri: string;
  readonly #authentication: ClientAuthentication;

  constructor(server: Server, parts: Parts, codes: DeviceCodes, verificationUri: string) {
    this.#server = server;
    this.#parts = parts;
    this.#codes = codes;
    this.#verificationUri = verificationUri;
    this.#authentication = parts.authenticating(
      (id) => parts.clients.find(id),
      TOKEN_PATH,
      DEVICE_AUTHORIZATION_PATH,
    );
  }

  readonly answer: Handler = async (request): Promise<Reply> => {
    const { pruning, profiles } = this.#server;
    const form = await formParameters(request);
    const client = await this.#authentication.authenticate(request, form);
    requireDeviceClient(client, profiles);
    const access = await this.#parts.checks.access(form, client);
    const deviceCode = randomToken();
    const userCode = await this.#begin(request, client, access, deviceCode);
    await pruning.tick();
    const shown = shownUserCode(userCode);
    return jsonReply({
      device_code: deviceCode,
      user_code: shown,
      verification_uri: this.#verificationUri,
      verification_uri_complete: `${this.#verificationUri}?user_code=${shown}`,
      expires_in: LIFETIME,
      interval: INTERVAL,
    });
  };

  async #begin(
    request: Request,
    client: Client,
    { scopes, audience }: AskedAccess,
    deviceCode: string,
  ): Promise<string> {
    const { host, clock } = this.#server;
    const now = clock();
    const address = callerAddress(host, request);
    const network = findNetwork(address) ?? '';
    const deviceHash = tokenHash(deviceCode);
    // Check the limits before the insert, so a reached limit causes no write.
    if (!(await this.#hasRoom(client, network, now, 1))) throw noRoom();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const userCode = newUserCode();
      const isInserted = await this.#codes.insert(
        {
          deviceHash,
          userHash: tokenHash(userCode),
          clientId: client.id,
          scopes,
          audience,
          address,
          network,
          begunAt: now,
          expiresAt: now + LIFETIME * 1000,
          outcome: null,
          granted: null,
        },
        INTERVAL * 1000,
      );
      if (isInserted) {
        await this.#keepWithinBudget(client, network, now, deviceHash);
        return userCode;
      }
    }
    throw noRoom();
  }

  /**
   * Counts again after the insert, because several requests may arrive at the same time. Each one
   * now counts those before it. If there are too many, removes the new request and throws.
   */
  async #keepWithinBudget(
    client: Client,
    network: string,
    now: number,
    deviceHash: string,
  ): Promise<void> {
    if (await this.#hasRoom(client, network, now, 0)) return;
    await this.#codes.remove(deviceHash);
    throw noRoom();
  }

  async #hasRoom(client: Client, network: string, now: number, more: number): Promise<boolean> {
    return !client.public || this.#codes.hasRoom(network, BUDGET, now, more);
  }
}

function noRoom(): NotNowError {
  return new NotNowError('Too many device codes are waiting; try again later.', {
    tooMuch: true,
    detail: 'too many device codes of public clients are waiting',
    retryAfter: TRY_AGAIN,
  });
}
