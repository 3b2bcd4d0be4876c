import type { PasswordHasher } from '../contracts/password-hasher.ts';
import { equalInConstantTime } from '../http/constant-time.ts';
import { RecentMap } from '../http/recent-map.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Client } from '../store/client.ts';

/**
 * Whether a secret is blank: empty, or nothing but spaces. Such a secret is not a credential,
 * whatever hash a client has: another server may have kept one of an empty secret, and everybody
 * knows that one.
 */
export function isBlank(secret: string): boolean {
  return secret.trim() === '';
}

/**
 * Secrets remembered at most; the least recently used is forgotten first, and costs a slow hash
 * again.
 */
const MOST_REMEMBERED = 10_000;

/**
 * Checks client secrets with the hasher that the host uses for people. A secret that was verified
 * is remembered as a SHA-256 over a key that this process makes at its start and stores nowhere,
 * the client, the stored hash and the secret: `docs/decisions/0006` says why that is safe.
 */
export class ClientSecrets {
  readonly #hasher: PasswordHasher;
  readonly #clock: () => number;
  readonly #key = randomToken();
  readonly #verified = new RecentMap<string, string>(MOST_REMEMBERED);
  readonly #inFlight = new Map<string, Promise<boolean>>();
  #decoy: string | null = null;
  /**
   * Until when a client has two secrets, as far as this process has seen; milliseconds since 1970.
   */
  #overlapUntil = 0;

  constructor(hasher: PasswordHasher, clock: () => number) {
    this.#hasher = hasher;
    this.#clock = clock;
  }

  /**
   * Whether this process has verified the secret before, and the client still accepts it. Waits for
   * another request that is verifying the same one. Costs no slow hash; false says nothing about
   * the secret. False without a client, after the same work; `clientId` is the id that was sent.
   */
  async isKnown(client: Client | null, secret: string, clientId: string): Promise<boolean> {
    const hashes = this.#acceptedHashes(client, secret);
    const anyIsRemembered = () =>
      client !== null && hashes.some((hash) => this.#isRemembered(client, hash, secret));
    if (anyIsRemembered()) return true;
    // Use what the other request has remembered, not its result: its failure is not this request's
    // failure.
    await this.#inFlight.get(this.#proofOf(clientId, hashes.join(), secret))?.catch(() => {});
    return anyIsRemembered();
  }

  /**
   * Whether the secret is the client's current one, or its previous one within the overlap. Without
   * a client, or for a client that has no secret, false after the same work as for a wrong secret.
   * So for a blank secret.
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
    if (previousSecretHash === null || until === null || until <= this.#clock()) return [secretHash];
    this.#overlapUntil = Math.max(this.#overlapUntil, until);
    return [secretHash, previousSecretHash];
  }

  #isRemembered(client: Client, hash: string, secret: string): boolean {
    const entry = cacheKey(client, hash);
    const proof = this.#verified.get(entry);
    if (proof === undefined || !equalInConstantTime(proof, this.#proofOf(client.id, hash, secret)))
      return false;
    this.#verified.touch(entry);
    return true;
  }

  /** Parts are delimited, so that no two lists give the same text. */
  #proofOf(clientId: string, hash: string, secret: string): string {
    return tokenHash(JSON.stringify([this.#key, clientId, hash, secret]));
  }

  async #verifySlowly(client: Client | null, hashes: readonly string[], secret: string): Promise<boolean> {
    for (const hash of hashes) {
      const isRight: unknown = client === null ? false : await this.#hasher.verify(secret, hash);
      // A hasher in JavaScript may return anything, such as an object with a flag. Only `true`
      // counts.
      if (client !== null && isRight === true) {
        this.#verified.put(cacheKey(client, hash), this.#proofOf(client.id, hash, secret));
        return true;
      }
    }
    // Made at the first failure of any client. Compared as often as the secrets of a client with
    // two.
    this.#decoy ??= await this.#hasher.hash(randomToken());
    const owed = (this.#overlapUntil > this.#clock() ? 2 : 1) - hashes.length;
    for (let count = 0; count < owed; count += 1) await this.#hasher.verify(secret, this.#decoy);
    return false;
  }
}

/** Client ids contain no spaces, so no two pairs have one key. */
function cacheKey(client: Client, hash: string): string {
  return `${client.id} ${hash}`;
}
