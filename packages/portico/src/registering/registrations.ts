import { networkOf } from '../http/addresses.ts';
import { equalInConstantTime } from '../http/constant-time.ts';
import type { Audit } from '../auditing/audit.ts';
import type { Clients } from '../clients/clients.ts';
import { NO_DEMANDS, type ClientDemand, type ClientDemands, type DemandField } from '../clients/demands.ts';
import type { ClientSecrets } from '../clients/secrets.ts';
import {
  checkRegistration,
  hasSecret,
  newClient,
  type CheckedRegistration,
  type ClientRegistration,
} from '../clients/registration.ts';
import type { PasswordHasher } from '../contracts/password-hasher.ts';
import { randomIdentifier, randomToken, tokenHash } from '../crypto.ts';
import { BearerError, OAuthError, RegistrationError, TooManyRegistrationsError } from '../errors.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { COUNTED } from '../store/client-expiry.ts';
import type { Client, RegistrationLimits, RegistrationRefusal } from '../store/client.ts';
import type { Store } from '../store/store.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import { invalidMetadata, registrationOf, type SentMetadata } from './asked-metadata.ts';
import { createReplacing } from './replacing.ts';

/** Clients that register themselves (RFC 7591), and manage their registration (RFC 7592). No one has verified who they are. */
export interface Registrations {
  /**
   * Registers a client. `initialAccessToken` is what came as a bearer token; null for none. Throws an OAuthError for metadata that
   * cannot be registered, a BearerError for the token, and a TooManyRegistrationsError.
   */
  register(
    sent: SentMetadata,
    initialAccessToken: string | null,
    address: string | null,
  ): Promise<Registered>;
  /** The client whose registration access token this is. Throws a BearerError for any other, whether or not there is the client. */
  find(clientId: string, token: string): Promise<Client>;
  /** Replaces what the client says about itself; its id, its secret and what people have allowed it stay. */
  replace(client: Client, token: string, sent: SentMetadata, address: string | null): Promise<Client>;
  /** Ends the client, and every token that it holds. */
  end(client: Client): Promise<void>;
}

/** A new client, with what is shown once. */
export interface Registered {
  readonly client: Client;
  /** Null for a public client. */
  readonly secret: string | null;
  /** 256 random bits, base64url. */
  readonly registrationAccessToken: string;
}

export interface RegistrationsOptions {
  readonly mode: 'open' | 'initial_access_token';
  readonly store: Store;
  readonly clients: Pick<Clients, 'find'>;
  readonly catalog: ScopeCatalog;
  readonly keys: Pick<KeyRing, 'all' | 'algorithms'>;
  /** Whether clients may have keys of their own (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  readonly demands: readonly ClientDemand[];
  /** Whether key sets are fetched from any port: while developing; false unless given. */
  readonly anyPort?: boolean;
  readonly profiles: Profiles;
  readonly passwordHasher: PasswordHasher;
  readonly secrets: Pick<ClientSecrets, 'verify'>;
  readonly audit: Audit;
  /** How many register within an hour from one network (`oauth_server:registrations_per_hour`); 60 unless given. */
  readonly perHour?: number | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** How many clients may register within an hour from one network, and how many unused ones are kept (decision 36). */
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

export function createRegistrations(options: RegistrationsOptions): Registrations {
  const { mode, store, clients, catalog, keys, takesKeys, demands, profiles } = options;
  const { passwordHasher, secrets, audit, clock, anyPort = false } = options;
  const { perHour = REGISTRATION_LIMITS.ofOneNetwork } = options;
  const limits = { ...REGISTRATION_LIMITS, ofOneNetwork: perHour };
  const countReplaced = createReplacing(limits, clock);

  const isSecretOf = async (client: Client, secret: unknown) =>
    typeof secret === 'string' && secrets.verify(client, secret, client.id);

  /** Null without an initial access token, where none is needed. */
  async function requireInitialToken(token: string | null): Promise<string | null> {
    if (token === null) {
      if (mode === 'open') return null;
      throw new BearerError('missing_token', null, { detail: 'no initial access token was sent' });
    }
    const hash = tokenHash(token);
    const found = await store.initialAccessTokens.findInitialAccessToken(hash);
    if (found === null) throw unusable('no initial access token is as the one that was sent');
    if (found.expiresAt <= clock()) throw unusable(`the initial access token ${found.id} has expired`);
    if (found.usesLeft <= 0) throw unusable(`the initial access token ${found.id} has been used up`);
    return hash;
  }

  async function check(sent: SentMetadata, mayBeConfidential: boolean): Promise<CheckedRegistration> {
    try {
      const asked = registrationOf(sent, {
        catalog,
        algorithms: keys.algorithms,
        mayBeConfidential,
        takesKeys,
        demands,
      });
      await requireAlgorithm(asked, keys);
      return await checkRegistration(asked, catalog, keys, profiles, { anyPort });
    } catch (error) {
      if (!(error instanceof RegistrationError)) throw error;
      throw invalidMetadata(
        isDescription(error.message) ? error.message : 'The client cannot be registered with these metadata.',
        error.message,
      );
    }
  }

  async function find(clientId: string, token: string): Promise<Client> {
    const client = await clients.find(clientId);
    // The same work is done without a client, so that the response time does not show whether one
    // exists.
    const hash = await store.registrations.findRegistrationHash(client?.id ?? NO_CLIENT);
    const isRight = equalInConstantTime(hash ?? NO_HASH, tokenHash(token));
    if (client === null || client.revokedAt !== null || hash === null) {
      throw unusable('no living client that registered itself has the client_id of the registration');
    }
    if (!isRight) {
      throw unusable(`the registration access token is not the one of the client ${client.id}`);
    }
    return client;
  }

  /** Demands of features that are off now are not read, and stay: a client cannot drop a demand by registering again. */
  function demandsUnread(client: Client): Partial<ClientDemands> {
    const met = new Set(demands.filter(({ isMet }) => isMet).map(({ field }) => field));
    const unread = (Object.keys(NO_DEMANDS) as DemandField[]).filter((field) => !met.has(field));
    return Object.fromEntries(unread.map((field) => [field, client[field]]));
  }

  return {
    async register(sent, initialAccessToken, address) {
      const initialTokenHash = await requireInitialToken(initialAccessToken);
      const checked = await check(sent, initialTokenHash !== null);
      const secret = hasSecret(checked) ? randomToken() : null;
      const registrationAccessToken = randomToken();
      const now = clock();
      const client = newClient(checked, {
        id: randomIdentifier(),
        registeredBy: 'registration',
        secretHash: secret === null ? null : await passwordHasher.hash(secret),
        createdAt: now,
      });
      const refusal = await store.registrations.registerClient(
        {
          client,
          tokenHash: tokenHash(registrationAccessToken),
          network: networkOf(address) ?? '',
          initialTokenHash,
        },
        limits,
        now,
      );
      if (refusal !== null) throw refused(refusal, now);
      await audit({ type: 'client_registered', clientId: client.id, registeredBy: client.registeredBy });
      return { client, secret, registrationAccessToken };
    },

    find,

    async replace(client, token, sent, address) {
      countReplaced(networkOf(address) ?? '');
      const unexpected = NOT_TO_BE_SENT.find((name) => Object.hasOwn(sent, name));
      if (unexpected !== undefined) {
        throw new OAuthError('invalid_request', `The field ${unexpected} is not for the client to say.`);
      }
      if (sent['client_id'] !== client.id) {
        throw new OAuthError('invalid_request', 'The client_id must be the one of the registration.');
      }
      if (Object.hasOwn(sent, 'client_secret') && !(await isSecretOf(client, sent['client_secret']))) {
        throw new OAuthError(
          'invalid_request',
          'The client_secret must be the one of the client, if it is sent.',
        );
      }
      const checked = await check(sent, cameWithToken(client));
      if (checked.public !== client.public || hasSecret(checked) !== hasSecret(client)) {
        throw invalidMetadata(
          hasSecret(client)
            ? 'The token_endpoint_auth_method cannot become another: the client has a secret.'
            : 'The token_endpoint_auth_method cannot become another.',
        );
      }
      const scopes = scopesReplaced(client, sent, checked);
      const replaced = { ...client, ...checked, scopes, ...demandsUnread(client) };
      requireSamePlaces(client, replaced);
      if (!(await store.registrations.updateRegistration(replaced, tokenHash(token)))) {
        requireSamePlaces(await find(client.id, token), replaced);
        throw unusable('the client ended at the same moment');
      }
      await audit({ type: 'client_changed', clientId: client.id, registeredBy: client.registeredBy });
      return replaced;
    },

    async end(client) {
      // False when another request ended it at the same moment: it has ended.
      if (await store.clients.revokeClient(client.id, clock())) {
        await audit({ type: 'client_revoked', clientId: client.id, registeredBy: client.registeredBy });
      }
    },
  };
}

/**
 * People know the client by where its answers go, and find it by that on their page of applications. A client that was allowed something
 * must not change these places afterwards (RFC 7592 section 2.2 lets a server refuse).
 */
function requireSamePlaces(client: Client, replaced: Client): void {
  if (client.usedAt === null) return;
  if (JSON.stringify(client.redirectUris) === JSON.stringify(replaced.redirectUris)) return;
  throw new OAuthError(
    'invalid_redirect_uri',
    'The redirect_uris stay as they are once somebody has allowed the client; register another one.',
  );
}

/** Checked here, because the message for operators does not name the field. */
async function requireAlgorithm(
  { idTokenSignedResponseAlg: algorithm, scopes = [], grants = [] }: ClientRegistration,
  keys: Pick<KeyRing, 'all'>,
): Promise<void> {
  if (algorithm === undefined) return;
  if (!scopes.includes('openid') || !grants.includes('authorization_code')) {
    throw invalidMetadata(
      'The id_token_signed_response_alg needs the scope openid and the grant authorization_code.',
    );
  }
  if ((await keys.all()).some((key) => key.algorithm === algorithm)) return;
  throw invalidMetadata(
    `The id_token_signed_response_alg cannot be ${algorithm}: the server has no signing key for it.`,
  );
}

/**
 * Whether it has rights that only an initial access token gives. A client without them gains
 * nothing by replacing its metadata.
 */
function cameWithToken(client: Client): boolean {
  return (
    hasSecret(client) ||
    (client.keys !== null && (client.keys.jwksUri !== null || client.grants.includes('client_credentials')))
  );
}

/**
 * A client that no one verified has all scopes (decision 36). A client with keys may have registered with a token, which its record does not
 * say, and have asked for fewer: it gets what it had and what it asks for, and no scope that it never named.
 */
function scopesReplaced(
  client: Client,
  sent: SentMetadata,
  { scopes }: CheckedRegistration,
): readonly string[] {
  if (client.keys === null || cameWithToken(client)) return scopes;
  const asked = typeof sent['scope'] === 'string' ? sent['scope'].split(' ') : [];
  const named = scopes.filter((scope) => client.scopes.includes(scope) || asked.includes(scope));
  if (named.length === 0) throw invalidMetadata('None of the scopes is offered.');
  return named;
}

function refused(refusal: RegistrationRefusal, now: number): Error {
  return refusal.reason === 'token'
    ? unusable('the initial access token was used up, or ended, at the same moment')
    : new TooManyRegistrationsError(refusal.reason, refusal.until - now);
}

function unusable(detail: string): BearerError {
  return new BearerError('invalid_token', null, { detail });
}

/** Whether a text may be an `error_description` (RFC 6749 section 5.2): what was sent is quoted in the others. */
function isDescription(text: string): boolean {
  return /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(text);
}
