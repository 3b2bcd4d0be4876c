import { actedBy, type Acting } from '../auditing/audit.ts';
import { randomIdentifier, randomToken } from '../crypto.ts';
import { RegistrationError } from '../errors.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import { fetchableUrlProblem } from '../http/outbound/fetchable-urls.ts';
import type { Parameters } from '../parameters.ts';
import type { FurtherValues } from '../store/further-metadata.ts';
import type { Server } from '../server.ts';
import type { Client, ClientLogo, ClientMetadata } from '../store/client.ts';
import { NO_DEMANDS } from '../store/client-demands.ts';
import { hasExpired } from '../store/client-expiry.ts';
import { checkNewClient } from './checking.ts';
import { isClientUrl, type ClientSource } from './client-source.ts';
import { describeClient, type ShownClient } from './describing.ts';
import { listPage, type ClientList, type ClientPage } from './listing.ts';
import { namedLogo, type ClientLogos } from './logos.ts';
import { hasSecret, newClient } from './new-client.ts';
import type { ClientRegistration } from './registration.ts';
import { checkSite } from './sites.ts';
import type { ClientChanges } from './changed-client.ts';
import { ClientUpdates, type UpdatedClient } from './updating.ts';

/**
 * A new client and its secret. Show the secret immediately, because the server stores only its
 * hash.
 */
export interface RegisteredClient {
  /** The stored client. */
  readonly client: Client;
  /**
   * The client's secret: 256 random bits, base64url. Null for a public client, for a client with
   * keys or a workload, and for a client that already existed.
   */
  readonly secret: string | null;
}

/** Finds a client, even if it is revoked. `form` contains the parameters of the request. */
export type FindClient = (
  clientId: string,
  request: Request,
  form: Parameters,
) => Promise<Client | null>;

/** See `Clients.update`. */
export type UpdateClient = Clients['update'];

/** What happened when a client was revoked. */
export interface RevokedClient {
  /**
   * The client before the revocation. If the server had not stored the client, this is the revoked
   * client that it has now stored.
   */
  readonly client: Client;
  /** False for a document client that the server had not stored yet: no user has seen it. */
  readonly wasKnown: boolean;
}

/**
 * A new secret for a client. Show the secret immediately, because the server stores only its hash.
 */
export interface RotatedSecret {
  /** The new secret: 256 random bits, base64url. */
  readonly secret: string;
  /**
   * When the previous secret stops working, in milliseconds since 1970. Null if the previous secret
   * has already stopped working.
   */
  readonly previousExpiresAt: number | null;
}

/** In seconds (one day). */
export const DEFAULT_OVERLAP = 86_400;
/** In seconds (one year). */
const LONGEST_OVERLAP = 365 * 86_400;

/**
 * The clients of this server, for console commands and plugins. Methods that change a client take
 * `acting`, the administrator who makes the change. The audit event names this administrator.
 * Without `acting`, it names no administrator.
 *
 * @example
 * const { client, secret } = await server.clients.create({
 *   name: 'Report tool',
 *   scopes: ['orders:read'],
 *   grants: ['client_credentials'],
 * });
 */
export class Clients {
  readonly #server: Server;
  readonly #logos: ClientLogos | null;
  readonly #source: ClientSource | null;
  readonly #updates: ClientUpdates;

  /**
   * `logos` is null if `oauth_server:client_logos` is off. `source` is null if no feature accepts
   * clients without registration.
   */
  constructor(server: Server, logos: ClientLogos | null, source: ClientSource | null) {
    this.#server = server;
    this.#logos = logos;
    this.#source = source;
    this.#updates = new ClientUpdates(server, logos, (clientId) => this.#requireLiving(clientId));
  }

  /**
   * Registers a client. Throws a RegistrationError with an explanation if the registration is not
   * valid.
   */
  async create(registration: ClientRegistration, acting?: Acting): Promise<RegisteredClient> {
    const { client, secret, logo } = await this.#checked(registration);
    const { store, furtherMetadata } = this.#server;
    const addition = furtherMetadata.writing(client.id, registration.metadata);
    await store.clients.insertClient(client, { logo, addition });
    await this.#audit('client_registered', client, acting);
    return { client, secret };
  }

  /**
   * Registers a client, unless `isThere` accepts an existing client that is not revoked. Then
   * returns the existing client without a secret.
   *
   * Of several simultaneous calls, only one registers a client, even in different processes. Throws
   * a RegistrationError with an explanation if the registration is invalid.
   */
  async createUnless(
    registration: ClientRegistration,
    isThere: (client: Client) => boolean,
    acting?: Acting,
  ): Promise<RegisteredClient & { readonly created: boolean }> {
    const { client, secret, logo } = await this.#checked(registration);
    const isActiveAndThere = (each: Client) => each.revokedAt === null && isThere(each);
    const { store, furtherMetadata } = this.#server;
    const addition = furtherMetadata.writing(client.id, registration.metadata);
    const existing = await store.clients.insertClientUnless(client, isActiveAndThere, {
      logo,
      addition,
    });
    if (existing !== null) return { client: existing, secret: null, created: false };
    await this.#audit('client_registered', client, acting);
    return { client, secret, created: true };
  }

  /**
   * Returns the client, even if it is revoked. Returns null for an unknown id, and for a
   * self-registered client that has expired.
   */
  async find(clientId: string): Promise<Client | null> {
    const { store, clock } = this.#server;
    const client = await store.clients.findClient(clientId);
    return client !== null && client.registeredBy !== 'operator' && hasExpired(client, clock())
      ? null
      : client;
  }

  /** Returns all data about a client. Throws a RegistrationError for an unknown id. */
  async show(clientId: string): Promise<ShownClient> {
    const found = await this.#requireKnown(clientId);
    const { store, furtherMetadata } = this.#server;
    const metadata = await furtherMetadata.find(found.id);
    const described = { ...describeClient(found, this.#server), metadata };
    if (found.registeredBy !== 'document' || found.revokedAt === null) return described;
    // Find out whether an operator blocked the client, or only the configuration refuses it.
    const client = await store.clients.findStoredClient(found.id);
    if (client === null || client.revokedAt !== null) return described;
    const refusal = this.#source?.refusal(client.id) ?? null;
    if (refusal === null) return described;
    return { ...describeClient(client, this.#server), refusal, metadata };
  }

  /**
   * Returns the metadata that features have added to these clients, by client id. Omits clients
   * without such metadata.
   */
  metadataOf(clients: readonly Client[]): Promise<ReadonlyMap<string, FurtherValues>> {
    return this.#server.furtherMetadata.findAll(clients.map(({ id }) => id));
  }

  /** Returns all clients, oldest first. */
  list(): Promise<readonly Client[]> {
    return this.#server.store.clients.listClients();
  }

  /** Returns one page of the clients. Throws a RegistrationError if `page` is not valid. */
  page(page: ClientPage = {}): Promise<ClientList> {
    return listPage(this.#server.store.clients, page);
  }

  /**
   * Changes a client that an operator registered. Applies all of the changes, or none of them if
   * one fails.
   *
   * - The client keeps its id and its authentication method. Its keys can be replaced.
   * - The result must be a valid registration.
   * - A value that you remove stops working with the next request. This also affects existing
   *   codes, tokens and requests. If you add the value again, it works again for the client's
   *   existing authorizations.
   * - Updates that run at the same time do not overwrite each other, even in different processes.
   *
   * Throws a RegistrationError with an explanation if the update is not possible.
   */
  update(clientId: string, changes: ClientChanges, acting?: Acting): Promise<UpdatedClient> {
    return this.#updates.update(clientId, changes, acting);
  }

  /**
   * Gives the client a new secret. The client's id and tokens stay the same. The previous secret
   * keeps working for `overlap` seconds. If `overlap` is 0, it stops working immediately.
   *
   * Throws a RegistrationError for a client without a secret. If two rotations with an overlap run
   * at the same time, only one succeeds, and the other throws a RegistrationError. To also reject a
   * rotation if the secret has changed since you last read the client, pass this client as `seen`.
   */
  async rotateSecret(
    clientId: string,
    overlap: number = DEFAULT_OVERLAP,
    acting?: Acting & { readonly seen?: { readonly secretHash: string | null } },
  ): Promise<RotatedSecret> {
    if (!Number.isInteger(overlap) || overlap < 0 || overlap > LONGEST_OVERLAP) {
      throw new RegistrationError(`The overlap must be from 0 to ${LONGEST_OVERLAP} seconds`);
    }
    const { store, host, audit, clock } = this.#server;
    const client = await this.#requireLiving(clientId);
    const { keys: ownKeys, secretHash: current } = client;
    if (ownKeys !== null)
      throw new RegistrationError(
        'A client that authenticates with its keys has no secret to rotate',
      );
    if (current === null) throw new RegistrationError('A public client has no secret to rotate');
    const secret = randomToken();
    const previousExpiresAt = endOfPrevious(client, clock(), overlap);
    const hash = await host.passwordHasher.hash(secret);
    // During an overlap, replace only the secret that was read. Otherwise, a simultaneous rotation
    // could end the secret that the application still uses.
    const replaced = acting?.seen?.secretHash ?? (overlap === 0 ? null : current);
    if (!(await store.clients.rotateSecret(clientId, hash, previousExpiresAt, replaced))) {
      throw new RegistrationError(
        'The client was revoked or its secret was changed at the same time; try again',
      );
    }
    await audit({ type: 'secret_rotated', clientId, previousExpiresAt, ...actedBy(acting) });
    return { secret, previousExpiresAt };
  }

  /**
   * Revokes the client and all of its tokens permanently. For a document client, blocks its URL
   * until you unblock it, even if no user has seen the client yet. Throws a RegistrationError if
   * the client is unknown or already revoked.
   */
  async revoke(clientId: string, acting?: Acting): Promise<RevokedClient> {
    const { store, clock } = this.#server;
    if (isClientUrl(clientId)) {
      const problem = fetchableUrlProblem(clientId);
      if (problem !== null) {
        throw new RegistrationError(`This URL cannot be a client id: it ${problem}`);
      }
      if ((await this.find(clientId)) === null) return this.#block(clientId, acting);
    }
    const client = await this.#requireKnown(clientId);
    // Run this even for a revoked client. Another process's revocation may not be durable yet.
    if (!(await store.clients.revokeClient(clientId, clock()))) throw revokedBefore();
    await this.#audit('client_revoked', client, acting);
    return { client, wasKnown: true };
  }

  /**
   * Unblocks the URL of a document client. The client works again after the server has fetched its
   * document again. Its earlier authorizations stay revoked.
   *
   * Throws a RegistrationError if the client is unknown, is not a document client, or is not
   * blocked. Also throws if the server has no feature for client documents.
   */
  async unblock(url: string, acting?: Acting): Promise<void> {
    const client = await this.#requireKnown(url);
    if (client.registeredBy !== 'document' || this.#source === null) {
      throw new RegistrationError(
        'Only the URL of a client document can be unblocked; other clients stay revoked. ' +
          'Register a new client instead',
      );
    }
    if (!(await this.#source.unblock(url))) throw new RegistrationError('This URL is not blocked');
    await this.#audit('client_unblocked', client, acting);
  }

  async #requireKnown(clientId: string): Promise<Client> {
    const client = await this.find(clientId);
    if (client === null)
      throw new RegistrationError('No client has this id; see oauth:client:list');
    return client;
  }

  async #requireLiving(clientId: string): Promise<Client> {
    const client = await this.#requireKnown(clientId);
    if (client.revokedAt !== null) throw revokedBefore();
    return client;
  }

  async #checked(
    registration: ClientRegistration,
  ): Promise<RegisteredClient & { readonly logo: ClientLogo | undefined }> {
    const { host, clock } = this.#server;
    const checked = await checkNewClient(registration, this.#server);
    const siteUri =
      registration.siteUri === undefined ? {} : { siteUri: checkSite(registration.siteUri) };
    const logo = await namedLogo(registration, this.#logos);
    const secret = hasSecret(checked) ? randomToken() : null;
    const client = newClient(checked, {
      id: randomIdentifier(),
      registeredBy: 'operator',
      secretHash: secret === null ? null : await host.passwordHasher.hash(secret),
      createdAt: clock(),
    });
    const logoHash = logo === undefined ? {} : { logoHash: logo.hash };
    return { client: { ...client, ...siteUri, ...logoHash }, secret, logo };
  }

  /** Stores a revoked client for this URL, without the metadata from a document. */
  async #block(url: string, acting?: Acting): Promise<RevokedClient> {
    const { store, clock } = this.#server;
    const now = clock();
    const described: ClientMetadata = {
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
    // If a user saw the client in the meantime, the store already contains it. Revoke that client.
    const wasKnown = await store.clients.revokeClient(url, now);
    await this.#audit('client_revoked', client, acting);
    return { client, wasKnown };
  }

  #audit(
    type: 'client_registered' | 'client_revoked' | 'client_unblocked',
    { id: clientId, registeredBy }: Client,
    acting?: Acting,
  ): Promise<void> {
    return this.#server.audit({ type, clientId, registeredBy, ...actedBy(acting) });
  }
}

/**
 * Returns the end of the overlap, or an earlier expiry of the secret, in milliseconds since 1970.
 * Returns null if the previous secret has already stopped working.
 */
function endOfPrevious(
  { secretExpiresAt: until }: Client,
  now: number,
  overlap: number,
): number | null {
  const end = Math.min(now + overlap * 1000, until ?? Number.POSITIVE_INFINITY);
  return end <= now ? null : end;
}

function revokedBefore(): RegistrationError {
  return new RegistrationError('The client is already revoked');
}
