import type { PasswordHasher } from '../host/password-hasher.ts';
import { equalInConstantTime } from '../http/constant-time.ts';
import { RecentMap } from '../http/recent-map.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Client } from '../store/client.ts';

/**
 * Whether a secret is empty or contains only white space. The server never accepts such a secret. A
 * client that was imported from another server may have the hash of an empty secret, which anyone
 * could guess.
 */
export function isBlank(secret: string): boolean {
  return secret.trim() === '';
}

/** Whether the client's current secret has expired. */
export function hasExpiredSecret({ secretExpiresAt: until }: Client, now: number): boolean {
  return until !== null && until <= now;
}

/**
 * The maximum number of secrets that a process remembers. At this limit, the process forgets the
 * least recently used secret. When that secret is used again, the process must compute a slow hash.
 */
const MOST_REMEMBERED = 10_000;

/**
 * Checks client secrets with the host's password hasher, and remembers verified secrets. It stores
 * each of them in memory as a SHA-256 hash of a random key, the client, the stored hash and the
 * secret. Each process creates the random key when it starts, and never stores it.
 * `docs/decisions/0006` explains why this is safe.
 */
export class ClientSecrets {
  readonly #hasher: PasswordHasher;
  readonly #clock: () => number;
  readonly #key = randomToken();
  readonly #verified = new RecentMap<string, string>(MOST_REMEMBERED);
  readonly #inFlight = new Map<string, Promise<boolean>>();
  #decoy: string | null = null;
  /**
   * When the last known overlap ends, in milliseconds since 1970. During an overlap, a client has
   * two valid secrets. The process knows only the overlaps of clients that it has checked.
   */
  #overlapUntil = 0;

  constructor(hasher: PasswordHasher, clock: () => number) {
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /**
   * Whether this process has already verified this secret and the secret is still valid. Computes
   * no slow hash. If another request is verifying the same secret, waits for that request.
   * Otherwise returns a boolean without waiting, so that the server counts simultaneous requests
   * with the same secret as one attempt. If the result is false, the secret can still be correct.
   * In that case, call `verify`.
   *
   * If `client` is null, does the same work and returns false. `clientId` is the client id in the
   * request.
   */
  isKnown(client: Client | null, secret: string, clientId: string): boolean | Promise<boolean> {
    const hashes = this.#acceptedHashes(client, secret);
    const anyIsRemembered = () =>
      client !== null && hashes.some((hash) => this.#isRemembered(client, hash, secret));
    if (anyIsRemembered()) return true;
    const verifying = this.#inFlight.get(this.#proofOf(clientId, hashes.join(), secret));
    // If the other request succeeded, it has remembered the secret. If it failed, ignore its error.
    return verifying === undefined ? false : verifying.then(anyIsRemembered, anyIsRemembered);
  }

  /**
   * Whether the secret is the client's current secret or, during the overlap, its previous secret.
   * Returns false for a blank or expired secret, for a client without a secret, and if `client` is
   * null. These cases take as long as a wrong secret.
   */
  async verify(client: Client | null, secret: string, clientId: string): Promise<boolean> {
    const hashes = this.#acceptedHashes(client, secret);
    const proof = this.#proofOf(clientId, hashes.join(), secret);
    const verifying = this.#inFlight.get(proof) ?? this.#verifySlowly(client, hashes, secret);
    this.#inFlight.set(proof, verifying);
    try {
      return await verifying;
    } finally {
      if (this.#inFlight.get(proof) === verifying) this.#inFlight.delete(proof);
    }
  }

  #acceptedHashes(client: Client | null, secret: string): readonly string[] {
    const hashes = this.#keptHashes(client);
    return isBlank(secret) ? [] : hashes;
  }

  #keptHashes(client: Client | null): readonly string[] {
    if (client === null || client.secretHash === null) return [];
    const { secretHash, previousSecretHash, previousSecretExpiresAt: until } = client;
    const current = hasExpiredSecret(client, this.#clock()) ? [] : [secretHash];
    if (previousSecretHash === null || until === null || until <= this.#clock()) return current;
    this.#overlapUntil = Math.max(this.#overlapUntil, until);
    return [...current, previousSecretHash];
  }

  #isRemembered(client: Client, hash: string, secret: string): boolean {
    const entry = cacheKey(client, hash);
    const proof = this.#verified.get(entry);
    if (proof === undefined || !equalInConstantTime(proof, this.#proofOf(client.id, hash, secret)))
      return false;
    this.#verified.touch(entry);
    return true;
  }

  /**
   * Returns the hash by which the process recognizes a verified secret. The input is JSON, so that
   * two different lists never become the same text.
   */
  #proofOf(clientId: string, hash: string, secret: string): string {
    return tokenHash(JSON.stringify([this.#key, clientId, hash, secret]));
  }

  async #verifySlowly(
    client: Client | null,
    hashes: readonly string[],
    secret: string,
  ): Promise<boolean> {
    for (const hash of hashes) {
      const isRight: unknown = client === null ? false : await this.#hasher.verify(secret, hash);
      // A hasher that is written in JavaScript may return any value. Accept only `true`.
      if (client !== null && isRight === true) {
        this.#verified.put(cacheKey(client, hash), this.#proofOf(client.id, hash, secret));
        return true;
      }
    }
    // All failures must take the same time. While there is an overlap, every failed attempt
    // computes two slow hashes, and otherwise one. If the client has fewer hashes, use a decoy for
    // the missing ones.
    this.#decoy ??= await this.#hasher.hash(randomToken());
    const owed = (this.#overlapUntil > this.#clock() ? 2 : 1) - hashes.length;
    for (let count = 0; count < owed; count += 1) await this.#hasher.verify(secret, this.#decoy);
    return false;
  }
}

/**
 * Returns the key under which a secret is remembered. Client ids contain no spaces, so each pair of
 * a client and a hash has a different key.
 */
function cacheKey(client: Client, hash: string): string {
  return `${client.id} ${hash}`;
}
