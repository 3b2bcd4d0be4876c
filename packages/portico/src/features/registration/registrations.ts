import { findNetwork } from '../../http/addresses.ts';
import { equalInConstantTime } from '../../http/constant-time.ts';
import { NO_DEMANDS, type ClientDemands, type DemandField } from '../../store/client-demands.ts';
import {
  checkRegistration,
  hasSecret,
  newClient,
  type ClientRegistration,
} from '../../clients/registration.ts';
import type { FurtherValues } from '../../further-metadata/further-metadata.ts';
import type { GrantTypes } from '../../store/grant-types.ts';
import { randomIdentifier, randomToken, tokenHash } from '../../crypto.ts';
import {
  BearerError,
  OAuthError,
  RegistrationError,
  TooManyRegistrationsError,
} from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import type { Server } from '../../server.ts';
import { COUNTED } from '../../store/client-expiry.ts';
import type {
  Client,
  ClientMetadata,
  RegistrationOrigin,
  RegistrationLimits,
  RegistrationRefusal,
} from '../../store/client.ts';
import { invalidMetadata, readRegistration, type SentMetadata } from './asked-metadata.ts';
import { GivenSecrets, type GivenSecret } from './given-secrets.ts';
import { requireSamePlaces, scopesReplaced } from './replaced-metadata.ts';
import { Replacing } from './replacing.ts';

/** A new client, with what is shown once. */
export interface Registered {
  readonly client: Client;
  /** Null for a public client. */
  readonly secret: string | null;
  /** 256 random bits, base64url. */
  readonly registrationAccessToken: string;
}

/**
 * How many clients may register within an hour from one network, and how many unused ones are kept
 * (decision 36).
 */
export const REGISTRATION_LIMITS: RegistrationLimits = {
  ofOneNetwork: 60,
  unused: 10_000,
  period: COUNTED,
};

/**
 * Members of the response that a request must not contain: only the server knows them (RFC 7592
 * section 2.2).
 */
const NOT_TO_BE_SENT = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
] as const;

/** No client has this id, and no token this hash. */
const [NO_CLIENT, NO_HASH] = ['0'.repeat(32), '-'.repeat(43)] as const;

/**
 * Clients that register themselves (RFC 7591), and manage their registration (RFC 7592). No one has
 * verified who they are.
 */
export class Registrations {
  readonly #server: Server;
  readonly #parts: Parts;
  readonly #limits: RegistrationLimits;
  readonly #replacing: Replacing;
  readonly #given: GivenSecrets;

  constructor(server: Server, parts: Parts) {
    const { registrations_per_hour: ofOneNetwork = REGISTRATION_LIMITS.ofOneNetwork } =
      server.config;
    this.#server = server;
    this.#parts = parts;
    this.#limits = { ...REGISTRATION_LIMITS, ofOneNetwork };
    this.#replacing = new Replacing(this.#limits, server.clock);
    this.#given = new GivenSecrets(server, parts.secrets);
  }

  /**
   * Registers a client. `initialAccessToken` is what came as a bearer token; null for none. Throws
   * an OAuthError for metadata that cannot be registered, a BearerError for the token, and a
   * TooManyRegistrationsError.
   */
  async register(
    sent: SentMetadata,
    initialAccessToken: string | null,
    address: string | null,
  ): Promise<Registered> {
    const { store, audit, clock } = this.#server;
    const initialTokenHash = await this.#requireInitialToken(initialAccessToken);
    const withToken = initialTokenHash !== null;
    const mayHaveSecret = withToken || this.#given.toStrangers;
    const { checked, further } = await this.#check(sent, withToken, mayHaveSecret);
    const origin = { network: findNetwork(address) ?? '', initialTokenHash };
    const given = hasSecret(checked) ? await this.#createSecret(origin) : null;
    const registrationAccessToken = randomToken();
    const now = clock();
    const client = newClient(checked, {
      id: randomIdentifier(),
      registeredBy: 'registration',
      secretHash: given?.hash ?? null,
      secretExpiresAt: given?.expiresAt ?? null,
      createdAt: now,
    });
    const refusal = await store.registrations.registerClient(
      { client, tokenHash: tokenHash(registrationAccessToken), ...origin },
      this.#limits,
      now,
    );
    if (refusal !== null) throw refused(refusal, now);
    await this.#server.furtherMetadata.write(client.id, further);
    await audit({
      type: 'client_registered',
      clientId: client.id,
      registeredBy: client.registeredBy,
    });
    return { client, secret: given?.secret ?? null, registrationAccessToken };
  }

  /**
   * The client whose registration access token this is. Throws a BearerError for any other, whether
   * or not there is the client.
   */
  async find(clientId: string, token: string): Promise<Client> {
    const client = await this.#parts.clients.find(clientId);
    // The same work is done without a client, so that the response time does not show whether one
    // exists.
    const hash = await this.#server.store.registrations.findRegistrationHash(
      client?.id ?? NO_CLIENT,
    );
    const isRight = equalInConstantTime(hash ?? NO_HASH, tokenHash(token));
    if (client === null || client.revokedAt !== null || hash === null) {
      throw unusable(
        'no living client that registered itself has the client_id of the registration',
      );
    }
    if (!isRight) {
      throw unusable(`the registration access token is not the one of the client ${client.id}`);
    }
    return client;
  }

  /**
   * Replaces what the client says about itself; its id, its secret and what people have allowed it
   * stay.
   */
  async replace(
    client: Client,
    token: string,
    sent: SentMetadata,
    address: string | null,
  ): Promise<Client> {
    this.#replacing.count(findNetwork(address) ?? '');
    await this.#requireOwn(client, sent);
    const withToken = await this.#cameWithToken(client);
    const { checked, further } = await this.#check(sent, withToken, hasSecret(client));
    if (checked.public !== client.public || hasSecret(checked) !== hasSecret(client)) {
      throw invalidMetadata(
        hasSecret(client)
          ? 'The token_endpoint_auth_method cannot become another: the client has a secret.'
          : 'The token_endpoint_auth_method cannot become another.',
      );
    }
    const scopes = scopesReplaced(client, sent, checked, withToken);
    const replaced = { ...client, ...checked, scopes, ...this.#demandsUnread(client) };
    requireSamePlaces(client, replaced);
    const { store, audit } = this.#server;
    if (!(await store.registrations.updateRegistration(replaced, tokenHash(token)))) {
      requireSamePlaces(await this.find(client.id, token), replaced);
      throw unusable('the client ended at the same moment');
    }
    await this.#server.furtherMetadata.write(client.id, further);
    await audit({ type: 'client_changed', clientId: client.id, registeredBy: client.registeredBy });
    return replaced;
  }

  /**
   * Gives the client a new secret if it needs one (RFC 7592 section 3). Null if it keeps its
   * secret. `sent` is the secret in the client's update, which `replace` has accepted.
   */
  renewSecret(
    client: Client,
    sent: string | null,
    address: string | null,
  ): Promise<GivenSecret | null> {
    return this.#given.renew(client, findNetwork(address) ?? '', sent);
  }

  /** Ends the client, and every token that it holds. */
  async end({ id, registeredBy }: Client): Promise<void> {
    const { store, audit, clock } = this.#server;
    // False when another request ended it at the same moment: it has ended.
    if (await store.clients.revokeClient(id, clock()))
      await audit({ type: 'client_revoked', clientId: id, registeredBy });
  }

  /** Null without an initial access token, where none is needed. */
  async #requireInitialToken(token: string | null): Promise<string | null> {
    const { store, config, clock } = this.#server;
    if (token === null) {
      if (config.registration === 'open') return null;
      throw new BearerError('missing_token', null, { detail: 'no initial access token was sent' });
    }
    const hash = tokenHash(token);
    const found = await store.initialAccessTokens.findInitialAccessToken(hash);
    if (found === null) throw unusable('no initial access token is as the one that was sent');
    if (found.expiresAt <= clock())
      throw unusable(`the initial access token ${found.id} has expired`);
    if (found.usesLeft <= 0)
      throw unusable(`the initial access token ${found.id} has been used up`);
    return hash;
  }

  /** Hashes slowly, so only for a client that would be registered now. */
  async #createSecret(origin: RegistrationOrigin): Promise<GivenSecret> {
    const now = this.#server.clock();
    const refusal = await this.#server.store.registrations.findRefusal(origin, this.#limits, now);
    if (refusal !== null) throw refused(refusal, now);
    return this.#given.create(origin.network);
  }

  /**
   * Whether it has rights that only an initial access token ever gave. A client without them gains
   * nothing by replacing its metadata. The grants of features do not count, because their rules may
   * change after a client registered.
   */
  async #cameWithToken(client: Client): Promise<boolean> {
    const { keys, grants } = client;
    if (hasSecret(client)) return this.#server.store.registrations.hasInitialToken(client.id);
    return keys !== null && (keys.jwksUri !== null || grants.includes('client_credentials'));
  }

  async #check(
    sent: SentMetadata,
    cameWithToken: boolean,
    mayHaveSecret: boolean,
  ): Promise<{ readonly checked: ClientMetadata; readonly further: FurtherValues }> {
    const { scopes: catalog, keys, demands } = this.#server;
    const takesKeys = this.#server.takesKeys();
    const grantTypes = this.#server.grantTypes();
    try {
      const { algorithms } = keys;
      const told = { cameWithToken, mayHaveSecret, takesKeys };
      const { fields: further } = this.#server.furtherMetadata;
      const rules = { catalog, grantTypes, algorithms, demands, further, ...told };
      const asked = readRegistration(sent, rules);
      await requireAlgorithm(asked, keys, grantTypes);
      return {
        checked: await checkRegistration(asked, this.#server),
        further: asked.metadata ?? {},
      };
    } catch (error) {
      if (!(error instanceof RegistrationError)) throw error;
      throw invalidMetadata(
        isDescription(error.message)
          ? error.message
          : 'The client cannot be registered with these metadata.',
        error.message,
      );
    }
  }

  /** What only the server says is not sent, and the id and the secret are those of the client. */
  async #requireOwn(client: Client, sent: SentMetadata): Promise<void> {
    const unexpected = NOT_TO_BE_SENT.find((name) => Object.hasOwn(sent, name));
    if (unexpected !== undefined) {
      throw new OAuthError(
        'invalid_request',
        `The field ${unexpected} is not for the client to say.`,
      );
    }
    if (sent['client_id'] !== client.id) {
      throw new OAuthError('invalid_request', 'The client_id must be the one of the registration.');
    }
    if (!Object.hasOwn(sent, 'client_secret')) return;
    const { client_secret: secret } = sent;
    if (typeof secret === 'string' && (await this.#parts.secrets.verify(client, secret, client.id)))
      return;
    throw new OAuthError(
      'invalid_request',
      'The client_secret must be the one of the client, if it is sent.',
    );
  }

  /**
   * Demands of features that are off now are not read, and stay: a client cannot drop a demand by
   * registering again.
   */
  #demandsUnread(client: Client): Partial<ClientDemands> {
    const met = new Set(
      this.#server.demands.filter(({ isMet }) => isMet).map(({ field }) => field),
    );
    const unread = (Object.keys(NO_DEMANDS) as DemandField[]).filter((field) => !met.has(field));
    return Object.fromEntries(unread.map((field) => [field, client[field]]));
  }
}

/** Checked here, because the message for operators does not name the field. */
async function requireAlgorithm(
  { idTokenSignedResponseAlg: algorithm, scopes = [], grants = [] }: ClientRegistration,
  keys: KeyRing,
  grantTypes: GrantTypes,
): Promise<void> {
  if (algorithm === undefined) return;
  if (!scopes.includes('openid') || !grantTypes.begin(grants, 'person')) {
    throw invalidMetadata(
      'The id_token_signed_response_alg needs the scope openid and the grant authorization_code.',
    );
  }
  if ((await keys.all()).some((key) => key.algorithm === algorithm)) return;
  throw invalidMetadata(
    `The id_token_signed_response_alg cannot be ${algorithm}: the server has no signing key ` +
      'for it.',
  );
}

function refused(refusal: RegistrationRefusal, now: number): Error {
  return refusal.reason === 'token'
    ? unusable('the initial access token was used up, or ended, at the same moment')
    : new TooManyRegistrationsError(refusal.reason, refusal.until - now);
}

function unusable(detail: string): BearerError {
  return new BearerError('invalid_token', null, { detail });
}

/**
 * Whether a text may be an `error_description` (RFC 6749 section 5.2): what was sent is quoted in
 * the others.
 */
function isDescription(text: string): boolean {
  return /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(text);
}
