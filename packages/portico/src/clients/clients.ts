import type { PasswordHasher } from '../contracts/password-hasher.ts';
import { actedBy, type Acting, type Audit, type AuditedClient } from '../auditing/audit.ts';
import { randomIdentifier, randomToken } from '../crypto.ts';
import { RegistrationError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import { hasExpired } from '../store/client-expiry.ts';
import type { Client, ClientLogo } from '../store/client.ts';
import type { Store } from '../store/store.ts';
import {
  checkRegistration,
  hasSecret,
  newClient,
  type CheckedRegistration,
  type ClientRegistration,
} from './registration.ts';
import type { CheckNewClient } from './checking.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { NO_DEMANDS } from './demands.ts';
import { describeClient, type ShownClient } from './describing.ts';
import { namedLogo, type ClientLogos } from './logos.ts';
import { isClientUrl } from './client-source.ts';
import { fetchableUrlProblem } from '../outbound/fetchable-urls.ts';
import { checkSite } from './sites.ts';
import { listPage, type ClientList, type ClientPage } from './listing.ts';
import { createUpdating, type UpdateClient } from './updating.ts';

/** A new client, and its secret: shown once, kept only as a hash. */
export interface RegisteredClient {
  /** As it is kept. */
  readonly client: Client;
  /** 256 random bits, base64url; null for a public client, and for one with keys. */
  readonly secret: string | null;
}

/**
 * The clients of this server, for console commands and plugins. A method that changes a client takes the person who does it, for the audit event;
 * without it, the event names no one.
 */
export interface Clients {
  /** Registers a client. Throws a RegistrationError that says what is wrong. */
  create(registration: ClientRegistration, acting?: Acting): Promise<RegisteredClient>;
  /**
   * Registers a client unless `isThere` holds for one that is not revoked, and then returns that one, without a secret. Of
   * several calls at once, also in other processes, one registers. Throws a RegistrationError that says what is wrong.
   */
  createUnless(
    registration: ClientRegistration,
    isThere: (client: Client) => boolean,
    acting?: Acting,
  ): Promise<RegisteredClient & { readonly created: boolean }>;
  /** Null for an unknown id. A revoked client is found, too. */
  find(clientId: string): Promise<Client | null>;
  /** Everything that is known about a client. Throws a RegistrationError for an unknown id. */
  show(clientId: string): Promise<ShownClient>;
  /** Oldest first. */
  list(): Promise<readonly Client[]>;
  /** A part of them, however many there are. Throws a RegistrationError for a page that is ill-formed. */
  page(page?: ClientPage): Promise<ClientList>;
  /**
   * Changes a client that an operator registered: all of the changes or none. Its id stays, and so
   * does what it authenticates by, except for keys that are replaced. The result must be a client
   * that could be registered. What it loses ends with the next request, also for its codes and
   * tokens, and for requests that have begun. What it gets back, its authorizations get back. Of
   * several updates at once, also in other processes, none is lost. Throws a RegistrationError that
   * says what is wrong.
   */
  readonly update: UpdateClient;
  /**
   * Gives the client a new secret; its id and its tokens stay as they are. The previous secret is
   * accepted for `overlap` more seconds; with 0 it ends at once. Throws a RegistrationError for a
   * client without a secret. With `seen`, also throws one when the secret has changed since that
   * client was read, so that of two rotations at once only one succeeds.
   */
  rotateSecret(
    clientId: string,
    overlap?: number,
    acting?: Acting & { readonly seen?: Pick<Client, 'secretHash'> },
  ): Promise<RotatedSecret>;
  /**
   * Ends the client and every token it holds, for good. The URL of a document is blocked until you unblock it, also if no person
   * has seen it yet. Throws a RegistrationError for an unknown client, and for one that was revoked before.
   */
  revoke(clientId: string, acting?: Acting): Promise<RevokedClient>;
  /**
   * Unblocks the URL of a document: it is a client again once its document has been fetched again.
   * What it was given before stays ended. Throws a RegistrationError for a client of another kind,
   * and for one that is unknown or not blocked.
   */
  unblock(url: string, acting?: Acting): Promise<void>;
}

/** The client of this id, for a request with this form; null if unknown. Finds revoked clients too. */
export type FindClient = (clientId: string, request: Request, form: Parameters) => Promise<Client | null>;

/** What a revocation ended. */
export interface RevokedClient {
  /** As it was. */
  readonly client: Client;
  /** False for the URL of a document that no person has seen. */
  readonly wasKnown: boolean;
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
  readonly keys: Pick<KeyRing, 'all' | 'algorithms'>;
  /** Null where clients have no logos (`oauth_server:client_logos`). */
  readonly logos: ClientLogos | null;
  /** Whether clients may have keys of their own (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  /** Whether key sets are fetched from any port: while developing; false unless given. */
  readonly anyPort?: boolean;
  readonly profiles: Profiles;
  readonly checkNew: CheckNewClient;
  readonly passwordHasher: PasswordHasher;
  readonly clock: () => number;
  readonly audit: Audit;
}

/** No other text reaches the store, because not every engine accepts any text. */
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

export function createClients(options: ClientsOptions): Clients {
  const { store, scopes, keys, takesKeys, profiles, checkNew, passwordHasher, logos } = options;
  const { clock, audit, anyPort = false } = options;
  async function find(clientId: string): Promise<Client | null> {
    const client = CLIENT_ID.test(clientId) ? await store.clients.findClient(clientId) : null;
    return client !== null && client.registeredBy !== 'operator' && hasExpired(client, clock())
      ? null
      : client;
  }

  const revokedBefore = () => new RegistrationError('The client was revoked before');

  async function requireKnown(clientId: string): Promise<Client> {
    const client = await find(clientId);
    if (client === null) throw new RegistrationError('No client has this id; see oauth:client:list');
    return client;
  }

  async function checkedClient(
    registration: ClientRegistration,
  ): Promise<RegisteredClient & { readonly logo: ClientLogo | undefined }> {
    const checked = await checkNew(registration);
    const siteUri = registration.siteUri === undefined ? {} : { siteUri: checkSite(registration.siteUri) };
    const logo = await namedLogo(registration, logos);
    const secret = hasSecret(checked) ? randomToken() : null;
    const client = newClient(checked, {
      id: randomIdentifier(),
      registeredBy: 'operator',
      secretHash: secret === null ? null : await passwordHasher.hash(secret),
      createdAt: clock(),
    });
    const logoHash = logo === undefined ? {} : { logoHash: logo.hash };
    return { client: { ...client, ...siteUri, ...logoHash }, secret, logo };
  }

  /** Keeps a client of which nothing is known but that it may do nothing. */
  async function block(url: string, acting?: Acting): Promise<RevokedClient> {
    const now = clock();
    const described: CheckedRegistration = {
      name: new URL(url).host,
      redirectUris: [],
      scopes: [],
      grants: [],
      public: true,
      keys: null,
      ...NO_DEMANDS,
      profile: null,
      applicationType: 'web',
      idTokenSignedResponseAlg: DEFAULT_ALGORITHM,
    };
    const begun = { id: url, registeredBy: 'document', secretHash: null, createdAt: now } as const;
    const client = { ...newClient(described, begun), revokedAt: now };
    await store.clients.insertRevokedClient(client);
    // A person may have seen it at this moment, and its row was written first.
    const wasKnown = await store.clients.revokeClient(url, now);
    await audit({ type: 'client_revoked', ...registered(client), ...actedBy(acting) });
    return { client, wasKnown };
  }

  async function requireLiving(clientId: string): Promise<Client> {
    const client = await requireKnown(clientId);
    if (client.revokedAt !== null) throw revokedBefore();
    return client;
  }

  return {
    async create(registration, acting) {
      const { client, secret, logo } = await checkedClient(registration);
      await store.clients.insertClient(client, logo);
      await audit({ type: 'client_registered', ...registered(client), ...actedBy(acting) });
      return { client, secret };
    },
    async createUnless(registration, isThere, acting) {
      const { client, secret, logo } = await checkedClient(registration);
      const isActiveAndThere = (each: Client) => each.revokedAt === null && isThere(each);
      const existing = await store.clients.insertClientUnless(client, isActiveAndThere, logo);
      if (existing !== null) return { client: existing, secret: null, created: false };
      await audit({ type: 'client_registered', ...registered(client), ...actedBy(acting) });
      return { client, secret, created: true };
    },
    find,
    async show(clientId) {
      const refusal = (client: Client) => profiles.refusal(client);
      return describeClient(await requireKnown(clientId), { catalog: scopes, refusal, clock });
    },
    list: () => store.clients.listClients(),
    page: (page = {}) => listPage(store.clients, page),
    update: createUpdating({
      store: store.clients,
      requireLiving,
      check: (registration, before) =>
        checkRegistration(registration, scopes, keys, profiles, { anyPort, before }),
      catalog: scopes,
      takesKeys,
      namedLogo: (named) => namedLogo(named, logos),
      audit,
    }),
    async rotateSecret(clientId, overlap = DEFAULT_OVERLAP, acting) {
      if (!Number.isInteger(overlap) || overlap < 0 || overlap > LONGEST_OVERLAP) {
        throw new RegistrationError(`The overlap must be 0 to ${LONGEST_OVERLAP} seconds`);
      }
      const { keys: ownKeys, secretHash: current } = await requireLiving(clientId);
      if (ownKeys !== null)
        throw new RegistrationError('A client that authenticates with its keys has no secret to rotate');
      const secret = randomToken();
      const previousExpiresAt = overlap === 0 ? null : clock() + overlap * 1000;
      if (current === null) throw new RegistrationError('A public client has no secret to rotate');
      const [hash, replaced] = [await passwordHasher.hash(secret), acting?.seen?.secretHash ?? null];
      if (!(await store.clients.rotateSecret(clientId, hash, previousExpiresAt, replaced))) {
        throw new RegistrationError('The client was revoked, or got another new secret, meanwhile');
      }
      await audit({ type: 'secret_rotated', clientId, previousExpiresAt, ...actedBy(acting) });
      return { secret, previousExpiresAt };
    },
    async revoke(clientId, acting) {
      if (isClientUrl(clientId)) {
        const problem = fetchableUrlProblem(clientId);
        if (problem !== null) {
          throw new RegistrationError(`No client can have this URL as its id: it ${problem}`);
        }
        if ((await find(clientId)) === null) return block(clientId, acting);
      }
      const client = await requireKnown(clientId);
      // Asked also of one that is revoked: what another attempt began may not be for good yet.
      if (!(await store.clients.revokeClient(clientId, clock()))) throw revokedBefore();
      await audit({ type: 'client_revoked', ...registered(client), ...actedBy(acting) });
      return { client, wasKnown: true };
    },
    async unblock(url, acting) {
      const client = await requireKnown(url);
      if (client.registeredBy !== 'document') {
        throw new RegistrationError(
          'Only the URL of a document is ever unblocked; another client is revoked for good',
        );
      }
      if (!(await store.documentClients.unblockDocumentClient(url, clock())))
        throw new RegistrationError('This URL is not blocked');
      await audit({ type: 'client_unblocked', ...registered(client), ...actedBy(acting) });
    },
  };
}

function registered({ id, registeredBy }: Client): AuditedClient {
  return { clientId: id, registeredBy };
}
