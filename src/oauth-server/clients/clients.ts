import type { PasswordHasher } from '../../contracts/password-hasher.ts';
import type { Audit } from '../audit.ts';
import { randomIdentifier, randomToken } from '../crypto.ts';
import { RegistrationError } from '../errors.ts';
import type { KeyRing } from '../keys.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Store } from '../store/store.ts';
import { checkRegistration, type ClientRegistration } from './registration.ts';

/** A new client, and its secret: shown once, kept only as a hash; null for a public client. */
export interface RegisteredClient {
  /** As it is kept. */
  readonly client: Client;
  /** 256 random bits, base64url; null for a public client. */
  readonly secret: string | null;
}

/** The clients of this server, for console commands and plugins. */
export interface Clients {
  /** Registers a client. Throws a RegistrationError that says what is wrong. */
  create(registration: ClientRegistration): Promise<RegisteredClient>;
  /**
   * Registers a client unless `isThere` holds for one that is not revoked, and then returns that one, without a secret. Of
   * several calls at once, also in other processes, one registers. Throws a RegistrationError that says what is wrong.
   */
  createUnless(
    registration: ClientRegistration,
    isThere: (client: Client) => boolean,
  ): Promise<RegisteredClient & { readonly created: boolean }>;
  /** Null for an unknown id. A revoked client is found, too. */
  find(clientId: string): Promise<Client | null>;
  /** Oldest first. */
  list(): Promise<readonly Client[]>;
  /**
   * Gives the client a new secret; its id and its tokens stay as they are. The previous secret is accepted for `overlap` more
   * seconds; with 0 it ends at once. Throws a RegistrationError for a client without a secret.
   */
  rotateSecret(clientId: string, overlap?: number): Promise<RotatedSecret>;
  /** Ends the client and every token it holds. Throws a RegistrationError when it is unknown, or was revoked before. */
  revoke(clientId: string): Promise<void>;
}

/** A new secret: shown once, kept only as a hash. */
export interface RotatedSecret {
  /** 256 random bits, base64url. */
  readonly secret: string;
  /** Until when the previous secret is accepted, milliseconds since 1970; null when it ended at once. */
  readonly previousExpiresAt: number | null;
}

/** How long the previous secret is accepted after a rotation by default, in seconds: a day. */
export const DEFAULT_OVERLAP = 86_400;
/** The longest overlap, in seconds: a year. */
const LONGEST_OVERLAP = 365 * 86_400;

export interface ClientsOptions {
  readonly store: Store;
  readonly scopes: ScopeCatalog;
  readonly keys: Pick<KeyRing, 'all'>;
  readonly passwordHasher: PasswordHasher;
  readonly clock: () => number;
  readonly audit: Audit;
}

/** No other text reaches the store: not every engine takes any. */
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

export function createClients(options: ClientsOptions): Clients {
  const { store, scopes, keys, passwordHasher, clock, audit } = options;
  const find = async (clientId: string) => (CLIENT_ID.test(clientId) ? store.findClient(clientId) : null);

  const revokedBefore = () => new RegistrationError('The client was revoked before');

  async function requireKnown(clientId: string): Promise<Client> {
    const client = await find(clientId);
    if (client === null) throw new RegistrationError('No client has this id; see oauth:client:list');
    return client;
  }

  async function newClient(registration: ClientRegistration): Promise<RegisteredClient> {
    const checked = await checkRegistration(registration, scopes, keys);
    const secret = checked.public ? null : randomToken();
    const client: Client = {
      ...checked,
      id: randomIdentifier(),
      secretHash: secret === null ? null : await passwordHasher.hash(secret),
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: clock(),
      revokedAt: null,
    };
    return { client, secret };
  }

  return {
    async create(registration) {
      const { client, secret } = await newClient(registration);
      await store.insertClient(client);
      await audit({ type: 'client_registered', clientId: client.id });
      return { client, secret };
    },
    async createUnless(registration, isThere) {
      const { client, secret } = await newClient(registration);
      const isActiveAndThere = (each: Client) => each.revokedAt === null && isThere(each);
      const existing = await store.insertClientUnless(client, isActiveAndThere);
      if (existing !== null) return { client: existing, secret: null, created: false };
      await audit({ type: 'client_registered', clientId: client.id });
      return { client, secret, created: true };
    },
    find,
    list: () => store.listClients(),
    async rotateSecret(clientId, overlap = DEFAULT_OVERLAP) {
      if (!Number.isInteger(overlap) || overlap < 0 || overlap > LONGEST_OVERLAP) {
        throw new RegistrationError(`The overlap must be 0 to ${LONGEST_OVERLAP} seconds`);
      }
      if ((await requireKnown(clientId)).revokedAt !== null) throw revokedBefore();
      const secret = randomToken();
      const previousExpiresAt = overlap === 0 ? null : clock() + overlap * 1000;
      if (!(await store.rotateSecret(clientId, await passwordHasher.hash(secret), previousExpiresAt))) {
        throw new RegistrationError('A public client has no secret to rotate');
      }
      await audit({ type: 'secret_rotated', clientId, previousExpiresAt });
      return { secret, previousExpiresAt };
    },
    async revoke(clientId) {
      await requireKnown(clientId);
      // Asked also of one that is revoked: what another attempt began may not be for good yet.
      if (!(await store.revokeClient(clientId, clock()))) throw revokedBefore();
      await audit({ type: 'client_revoked', clientId });
    },
  };
}
