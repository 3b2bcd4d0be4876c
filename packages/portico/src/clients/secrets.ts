import type { PasswordHasher } from '../host/password-hasher.ts';
import { equalInConstantTime } from '../http/constant-time.ts';
import { RecentMap } from '../http/recent-map.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Client } from '../store/client.ts';

/**
 * The server never accepts a blank secret. An imported client may have the hash of an empty secret,
 * which anyone could guess.
 */
export function isBlank(secret: string): boolean {
  return secret.trim() === '';
}

export function hasExpiredSecret({ secretExpiresAt: until }: Client, now: number): boolean {
  return until !== null && until <= now;
}

/**
 * The maximum number of remembered secrets. Above it, the process forgets the least recently used
 * one. The next use of that secret needs a slow hash again.
 */
const MOST_REMEMBERED = 10_000;

/**
 * Checks client secrets with the host's password hasher, and remembers verified secrets.
 *
 * Memory holds only a SHA-256 hash of a random key, the client, the stored hash and the secret.
 * Each process creates its own random key and never stores it. `docs/decisions/0006` explains why
 * this is safe.
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
   * Returns true if this process has verified this secret before and the secret is still valid.
   * Computes no slow hash. If the result is false, the secret can still be correct: call `verify`.
   *
   * Waits if another request is verifying the same secret. Otherwise returns a boolean without a
   * promise. So the server counts simultaneous requests with the same secret as one attempt.
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
    // A successful request has remembered the secret. Ignore the error of a failed one.
    return verifying === undefined ? false : verifying.then(anyIsRemembered, anyIsRemembered);
  }

  /**
   * Returns true for the client's current secret and, during the overlap, for its previous one. All
   * failures take equally long: a wrong, blank or expired secret, a client without a secret, and an
   * unknown client (null).
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
   * Returns the hash of a verified secret. JSON keeps different lists from becoming the same text.
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
      // A hasher in JavaScript may return any value. Accept only `true`.
      if (client !== null && isRight === true) {
        this.#verified.put(cacheKey(client, hash), this.#proofOf(client.id, hash, secret));
        return true;
      }
    }
    // All failures must take the same time: two slow hashes while there is any overlap, otherwise
    // one. Use a decoy for each hash that this client does not have.
    this.#decoy ??= await this.#hasher.hash(randomToken());
    const owed = (this.#overlapUntil > this.#clock() ? 2 : 1) - hashes.length;
    for (let count = 0; count < owed; count += 1) await this.#hasher.verify(secret, this.#decoy);
    return false;
  }
}

/** Client ids contain no spaces, so each pair has its own key. */
function cacheKey(client: Client, hash: string): string {
  return `${client.id} ${hash}`;
}
