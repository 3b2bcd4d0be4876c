import type { PasswordHasher } from '../contracts/password-hasher.ts';
import { equalInConstantTime } from '../http/constant-time.ts';
import { RecentMap } from '../http/recent-map.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Client } from '../store/client.ts';

/**
 * Whether a secret is blank: empty, or nothing but spaces. Such a secret is not a credential, whatever hash a client has: another
 * server may have kept one of an empty secret, and everybody knows that one.
 */
export function isBlank(secret: string): boolean {
  return secret.trim() === '';
}

/** Checks client secrets with the hasher that the host uses for people. */
export interface ClientSecrets {
  /**
   * Whether this process has verified the secret before, and the client still accepts it. Waits for another request that is
   * verifying the same one. Costs no slow hash; false says nothing about the secret. False without a client, after the same work;
   * `clientId` is the id that was sent.
   */
  isKnown(client: Client | null, secret: string, clientId: string): Promise<boolean>;
  /**
   * Whether the secret is the client's current one, or its previous one within the overlap. Without a client, or for a
   * client that has no secret, false after the same work as for a wrong secret. So for a blank secret.
   */
  verify(client: Client | null, secret: string, clientId: string): Promise<boolean>;
}

export interface ClientSecretsOptions {
  readonly passwordHasher: PasswordHasher;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Secrets remembered at most; the least recently used is forgotten first, and costs a slow hash again. */
const MOST_REMEMBERED = 10_000;

/**
 * A secret that was verified is remembered as a SHA-256 over a key that this process makes at its start and stores nowhere,
 * the client, the stored hash and the secret: `docs/decisions/0006` says why that is safe.
 */
export function createClientSecrets({ passwordHasher, clock }: ClientSecretsOptions): ClientSecrets {
  const key = randomToken();
  const verified = new RecentMap<string, string>(MOST_REMEMBERED);
  const inFlight = new Map<string, Promise<boolean>>();
  let decoy: string | null = null;
  /** Until when a client has two secrets, as far as this process has seen; milliseconds since 1970. */
  let overlapUntil = 0;

  // Client ids contain no spaces, so no two pairs have one key.
  const cacheKey = (client: Client, hash: string) => `${client.id} ${hash}`;
  // Parts are delimited, so that no two lists of them are one text.
  const proofOf = (clientId: string, hash: string, secret: string) =>
    tokenHash(JSON.stringify([key, clientId, hash, secret]));

  function acceptedHashes(client: Client | null, secret: string): readonly string[] {
    const hashes = keptHashes(client);
    return isBlank(secret) ? [] : hashes;
  }

  function keptHashes(client: Client | null): readonly string[] {
    if (client === null || client.secretHash === null) return [];
    const { secretHash, previousSecretHash, previousSecretExpiresAt } = client;
    if (previousSecretHash === null || previousSecretExpiresAt === null || previousSecretExpiresAt <= clock())
      return [secretHash];
    overlapUntil = Math.max(overlapUntil, previousSecretExpiresAt);
    return [secretHash, previousSecretHash];
  }

  function isRemembered(client: Client, hash: string, secret: string): boolean {
    const entry = cacheKey(client, hash);
    const proof = verified.get(entry);
    if (proof === undefined || !equalInConstantTime(proof, proofOf(client.id, hash, secret))) return false;
    verified.touch(entry);
    return true;
  }

  function remember(client: Client, hash: string, secret: string): void {
    verified.put(cacheKey(client, hash), proofOf(client.id, hash, secret));
  }

  async function verifySlowly(
    client: Client | null,
    hashes: readonly string[],
    secret: string,
  ): Promise<boolean> {
    for (const hash of hashes) {
      const isRight: unknown = client === null ? false : await passwordHasher.verify(secret, hash);
      // A hasher in JavaScript may return anything, such as an object with a flag. Only `true`
      // counts.
      if (client !== null && isRight === true) {
        remember(client, hash, secret);
        return true;
      }
    }
    // Made at the first failure of any client. Compared as often as the secrets of a client with two.
    decoy ??= await passwordHasher.hash(randomToken());
    const owed = (overlapUntil > clock() ? 2 : 1) - hashes.length;
    for (let count = 0; count < owed; count += 1) await passwordHasher.verify(secret, decoy);
    return false;
  }

  return {
    async isKnown(client, secret, clientId) {
      const hashes = acceptedHashes(client, secret);
      const anyIsRemembered = () =>
        client !== null && hashes.some((hash) => isRemembered(client, hash, secret));
      if (anyIsRemembered()) return true;
      // Use what the other request has remembered, not its result: its failure is not this request's failure.
      await inFlight.get(proofOf(clientId, hashes.join(), secret))?.catch(() => {});
      return anyIsRemembered();
    },
    async verify(client, secret, clientId) {
      const hashes = acceptedHashes(client, secret);
      const proof = proofOf(clientId, hashes.join(), secret);
      const verifying = inFlight.get(proof) ?? verifySlowly(client, hashes, secret);
      inFlight.set(proof, verifying);
      try {
        return await verifying;
      } finally {
        if (inFlight.get(proof) === verifying) inFlight.delete(proof);
      }
    },
  };
}
