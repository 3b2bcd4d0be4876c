import { findNetwork } from '../../http/addresses.ts';
import { equalInConstantTime } from '../../http/constant-time.ts';
import { NO_DEMANDS, type ClientDemands, type DemandField } from '../../store/client-demands.ts';
import { hasSecret, newClient } from '../../clients/new-client.ts';
import { checkRegistration, type ClientRegistration } from '../../clients/registration.ts';
import type { FurtherValues } from '../../store/further-metadata.ts';
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
import type { Client, ClientMetadata } from '../../store/client.ts';
import {
  findSent,
  invalidMetadata,
  readRegistration,
  type MetadataRules,
  type SentMetadata,
} from './asked-metadata.ts';
import type { RegistrationLimits, RegistrationOrigin, RegistrationRefusal } from './records.ts';
import { GivenSecrets, type GivenSecret } from './given-secrets.ts';
import { redirectUrisReplaced, requireSamePlaces, scopesReplaced } from './replaced-metadata.ts';
import { Replacing } from './replacing.ts';

/** A new client. The server stores its secret and its registration access token only as hashes. */
export interface Registered {
  readonly client: Client;
  /** Null if the client has no secret. */
  readonly secret: string | null;
  /** 256 random bits, encoded as base64url. */
  readonly registrationAccessToken: string;
}

/**
 * Decision 36: how many clients can register from one network per hour, and how many unused clients
 * can exist.
 */
const REGISTRATION_LIMITS: RegistrationLimits = {
  ofOneNetwork: 60,
  unused: 10_000,
  period: COUNTED,
};

/** Only the server sets these members (RFC 7592 section 2.2). */
const NOT_TO_BE_SENT = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
] as const;

/**
 * Stands in for a client that does not exist. No client has this id, and no token has this hash.
 */
const [NO_CLIENT, NO_HASH] = ['0'.repeat(32), '-'.repeat(43)] as const;

/**
 * Registers clients at their own request, and manages them (RFC 7591, RFC 7592). No operator has
 * verified them.
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
   * Registers a client. `initialAccessToken` is the bearer token of the request, or null.
   *
   * Throws an OAuthError for invalid metadata, a BearerError if a token is invalid or required but
   * missing, and a TooManyRegistrationsError at a limit.
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
    const told = { cameWithToken: withToken, wasVouchedFor: withToken, mayHaveSecret };
    const { checked, further } = await this.#check(sent, told);
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
      this.#server.furtherMetadata.writing(client.id, further),
    );
    if (refusal !== null) throw refused(refusal, now);
    await audit({
      type: 'client_registered',
      clientId: client.id,
      registeredBy: client.registeredBy,
    });
    return { client, secret: given?.secret ?? null, registrationAccessToken };
  }

  /**
   * Returns the client with this registration access token. Otherwise, throws a BearerError. The
   * error does not tell if the client exists.
   */
  async find(clientId: string, token: string): Promise<Client> {
    const client = await this.#parts.clients.find(clientId);
    // Do the same work for an unknown client, so the response time does not reveal if a client
    // exists.
    const hash = await this.#server.store.registrations.findRegistrationHash(
      client?.id ?? NO_CLIENT,
    );
    const isRight = equalInConstantTime(hash ?? NO_HASH, tokenHash(token));
    if (client === null || client.revokedAt !== null || hash === null) {
      throw unusable('no active, self-registered client has this client_id');
    }
    if (!isRight) {
      throw unusable(`the registration access token is not valid for the client ${client.id}`);
    }
    return client;
  }

  /** Replaces the client's metadata. Its id, its secret and its access stay. */
  async replace(
    client: Client,
    token: string,
    sent: SentMetadata,
    address: string | null,
  ): Promise<Client> {
    this.#replacing.count(findNetwork(address) ?? '');
    await this.#requireOwn(client, sent);
    const wasVouchedFor = await this.#server.store.registrations.hasInitialToken(client.id);
    const withToken = hasRightsOfToken(client, wasVouchedFor);
    const told = { cameWithToken: withToken, wasVouchedFor, mayHaveSecret: hasSecret(client) };
    const { checked, further } = await this.#check(sent, told);
    if (checked.public !== client.public || hasSecret(checked) !== hasSecret(client)) {
      throw invalidMetadata(
        hasSecret(client)
          ? 'The token_endpoint_auth_method cannot become another: the client has a secret.'
          : 'The token_endpoint_auth_method cannot become another.',
      );
    }
    const scopes = scopesReplaced(client, sent, checked, withToken);
    const redirectUris = redirectUrisReplaced(client, checked);
    const demands = this.#demandsUnread(client);
    const replaced = { ...client, ...checked, redirectUris, scopes, ...demands };
    requireSamePlaces(client, replaced);
    const { store, audit, furtherMetadata } = this.#server;
    const addition = furtherMetadata.writing(client.id, further);
    if (!(await store.registrations.updateRegistration(replaced, tokenHash(token), addition))) {
      requireSamePlaces(await this.find(client.id, token), replaced);
      throw unusable('the client was revoked during this request');
    }
    await audit({ type: 'client_changed', clientId: client.id, registeredBy: client.registeredBy });
    return replaced;
  }

  /**
   * Gives the client a new secret if it needs one (RFC 7592 section 3). Otherwise, returns null.
   * `sent` is the secret in the client's update. `replace` must have accepted it before.
   */
  renewSecret(
    client: Client,
    sent: string | null,
    address: string | null,
  ): Promise<GivenSecret | null> {
    return this.#given.renew(client, findNetwork(address) ?? '', sent);
  }

  /** Revokes the client and all of its tokens. */
  async end({ id, registeredBy }: Client): Promise<void> {
    const { store, audit, clock } = this.#server;
    // Another request may have revoked the client in the meantime. That request writes the audit
    // event.
    if (await store.clients.revokeClient(id, clock()))
      await audit({ type: 'client_revoked', clientId: id, registeredBy });
  }

  /**
   * Returns the hash of the initial access token. Returns null without a token if none is needed.
   */
  async #requireInitialToken(token: string | null): Promise<string | null> {
    const { store, config, clock } = this.#server;
    if (token === null) {
      if (config.registration === 'open') return null;
      throw new BearerError('missing_token', null, { detail: 'no initial access token was sent' });
    }
    const hash = tokenHash(token);
    const found = await store.initialAccessTokens.findInitialAccessToken(hash);
    if (found === null) throw unusable('the initial access token is unknown');
    if (found.expiresAt <= clock())
      throw unusable(`the initial access token ${found.id} has expired`);
    if (found.usesLeft <= 0)
      throw unusable(`the initial access token ${found.id} has been used up`);
    return hash;
  }

  /** Checks the limits before the slow hashing. */
  async #createSecret(origin: RegistrationOrigin): Promise<GivenSecret> {
    const now = this.#server.clock();
    const refusal = await this.#server.store.registrations.findRefusal(origin, this.#limits, now);
    if (refusal !== null) throw refused(refusal, now);
    return this.#given.create(origin.network);
  }

  async #check(
    sent: SentMetadata,
    told: Pick<MetadataRules, 'cameWithToken' | 'wasVouchedFor' | 'mayHaveSecret'>,
  ): Promise<{ readonly checked: ClientMetadata; readonly further: FurtherValues }> {
    const { scopes: catalog, keys, demands } = this.#server;
    const takesKeys = this.#server.takesKeys();
    const grantTypes = this.#server.grantTypes();
    try {
      const { algorithms } = keys;
      const { fields: further } = this.#server.furtherMetadata;
      const rules = { catalog, grantTypes, algorithms, demands, takesKeys, further, ...told };
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

  /**
   * Throws if the request contains members that only the server sets, or another client's id or
   * secret.
   */
  async #requireOwn(client: Client, sent: SentMetadata): Promise<void> {
    const unexpected = NOT_TO_BE_SENT.find((name) => findSent(sent, name) !== undefined);
    if (unexpected !== undefined) {
      throw new OAuthError(
        'invalid_request',
        `The field ${unexpected} cannot be set by the client.`,
      );
    }
    if (sent['client_id'] !== client.id) {
      throw new OAuthError('invalid_request', 'The client_id must be the one of the registration.');
    }
    const secret = findSent(sent, 'client_secret');
    if (secret === undefined) return;
    if (typeof secret === 'string' && (await this.#parts.secrets.verify(client, secret, client.id)))
      return;
    throw new OAuthError(
      'invalid_request',
      'The client_secret must be the one of the client, if it is sent.',
    );
  }

  /**
   * Returns the protections that the client requires from features that are off now. The server
   * keeps them, so a client cannot drop them by replacing its metadata.
   */
  #demandsUnread(client: Client): Partial<ClientDemands> {
    const met = new Set(
      this.#server.demands.filter(({ isMet }) => isMet).map(({ field }) => field),
    );
    const unread = (Object.keys(NO_DEMANDS) as DemandField[]).filter((field) => !met.has(field));
    return Object.fromEntries(unread.map((field) => [field, client[field]]));
  }
}

/**
 * Returns true if the client has rights that require an initial access token. A client without them
 * cannot get them by replacing its metadata. Ignores grants that features add, because the rules
 * for them may have changed.
 */
function hasRightsOfToken(client: Client, wasVouchedFor: boolean): boolean {
  const { keys, grants } = client;
  if (hasSecret(client)) return wasVouchedFor;
  return keys !== null && (keys.jwksUri !== null || grants.includes('client_credentials'));
}

/** The error of the later check is for operators and does not name the metadata field. */
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
    ? unusable('the initial access token was used up or became invalid during this request')
    : new TooManyRegistrationsError(refusal.reason, refusal.until - now);
}

function unusable(detail: string): BearerError {
  return new BearerError('invalid_token', null, { detail });
}

/**
 * Returns true if a string can be an `error_description` (RFC 6749 section 5.2). It must not
 * contain quotation marks.
 */
function isDescription(text: string): boolean {
  return /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(text);
}
