import { DEFAULT_OVERLAP } from '../../clients/clients.ts';
import { hasSecret } from '../../clients/new-client.ts';
import type { ClientSecrets } from '../../clients/secrets.ts';
import { randomToken } from '../../crypto.ts';
import { runAsCaller } from '../../http/caller.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';

/** The client receives the secret once. The store contains only its hash. */
export interface GivenSecret {
  /** 256 random bits, encoded as base64url. */
  readonly secret: string;
  readonly hash: string;
  /** When the secret expires, in milliseconds since 1970. Null if it never expires. */
  readonly expiresAt: number | null;
}

/** Gives secrets to clients that register themselves, and replaces them before they expire. */
export class GivenSecrets {
  readonly #server: Server;
  readonly #secrets: ClientSecrets;
  readonly #lifetime: number | null;
  /** How long before its expiry a secret is replaced, in milliseconds. */
  readonly #window: number;
  /** True if clients without an initial access token can have a secret. */
  readonly toStrangers: boolean;

  constructor(server: Server, secrets: ClientSecrets) {
    const { registration_secret_ttl: ttl } = server.config;
    this.#server = server;
    this.#secrets = secrets;
    this.#lifetime = typeof ttl === 'number' ? ttl * 1000 : null;
    this.#window =
      this.#lifetime === null ? DEFAULT_OVERLAP * 1000 : Math.floor(this.#lifetime / 3);
    this.toStrangers = ttl !== undefined;
  }

  /**
   * Hashing is slow. It runs in a queue in which networks take turns, so many calls from one
   * network delay only that network.
   */
  async create(network: string): Promise<GivenSecret> {
    const { host, clock } = this.#server;
    const secret = randomToken();
    const hash = await runAsCaller(network, () => host.passwordHasher.hash(secret));
    return { secret, hash, expiresAt: this.#lifetime === null ? null : clock() + this.#lifetime };
  }

  /**
   * Gives the client a new secret in two cases:
   *
   * - The current secret has expired or will expire soon, or new secrets no longer expire.
   * - The client sent its previous secret, so it has not received the current one.
   *
   * Otherwise, returns null. Of calls at the same time, even in different processes, only one gives
   * the client a new secret.
   */
  async renew(client: Client, network: string, sent: string | null): Promise<GivenSecret | null> {
    const { store, audit, clock } = this.#server;
    if (!this.toStrangers || !hasSecret(client) || client.secretHash === null) return null;
    if (!this.#endsSoon(client) && !(await this.#isPrevious(client, sent))) return null;
    const given = await this.create(network);
    const previousExpiresAt = this.#previousEnd(client);
    const { id: clientId, secretHash: replaced } = client;
    const { hash, expiresAt } = given;
    if (
      !(await store.clients.rotateSecret(clientId, hash, previousExpiresAt, replaced, expiresAt))
    ) {
      return null;
    }
    await audit({
      type: 'secret_rotated',
      clientId,
      previousExpiresAt: (previousExpiresAt ?? 0) > clock() ? previousExpiresAt : null,
    });
    return given;
  }

  #endsSoon({ secretExpiresAt: until }: Client): boolean {
    return (
      until !== null && (this.#lifetime === null || until - this.#window <= this.#server.clock())
    );
  }

  /**
   * Returns true if the client sent its previous secret. `Registrations.replace` rejects any secret
   * other than the current and the previous one.
   */
  async #isPrevious(client: Client, sent: string | null): Promise<boolean> {
    // An operator's rotation creates a secret that never expires. The client must not undo it.
    if (sent === null || client.previousSecretHash === null || client.secretExpiresAt === null)
      return false;
    return !(await this.#secrets.verify({ ...client, previousSecretHash: null }, sent, client.id));
  }

  #previousEnd({ secretExpiresAt: until }: Client): number {
    const end = this.#server.clock() + this.#window;
    return until === null ? end : Math.min(until, end);
  }
}
