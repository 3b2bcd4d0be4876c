import { randomBytes } from 'node:crypto';
import { equalInConstantTime } from '../http/constant-time.ts';
import type { PasswordHasher } from '../contracts/password-hasher.ts';
import type { Client } from './store/store.ts';
import { keyedHash, randomToken } from './crypto.ts';

/** Checks client secrets with the hasher that the host uses for people. */
export interface ClientSecrets {
  /**
   * Whether this process has found the secret right before, or is just finding it so for another request: one of the
   * client's secrets that are accepted now. Costs no slow hash. False says nothing about the secret.
   */
  isKnown(client: Client, secret: string): Promise<boolean>;
  /**
   * Whether the secret is the client's current one, or its previous one within the overlap window. Without a client,
   * or for a client that has no secret, it answers false after the same work as for a wrong secret.
   */
  verify(client: Client | null, secret: string): Promise<boolean>;
}

export interface ClientSecretsOptions {
  readonly passwordHasher: PasswordHasher;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Secrets remembered at most; the one used longest ago is forgotten first, and costs a slow hash again. */
const MOST_REMEMBERED = 10_000;

/**
 * A secret that was verified once is remembered as an HMAC over client, stored hash and secret, under a key of this
 * process that is kept nowhere: `docs/decisions/0006` says why that is safe.
 */
export function createClientSecrets({ passwordHasher, clock }: ClientSecretsOptions): ClientSecrets {
  const key = randomBytes(32).toString('base64url');
  const verified = new Map<string, string>();
  const underWay = new Map<string, Promise<boolean>>();
  let decoy: string | null = null;

  // Ids are hexadecimal, so no two pairs look alike.
  const entryOf = (client: Client, hash: string) => `${client.id} ${hash}`;
  const proofOf = (client: Client, hash: string, secret: string) =>
    keyedHash(key, 'oauth/client-secret', client.id, hash, secret);

  function acceptedHashes(client: Client): readonly string[] {
    const { secretHash, previousSecretHash, previousSecretExpiresAt } = client;
    if (secretHash === null) return [];
    const previousLives = previousSecretExpiresAt !== null && previousSecretExpiresAt > clock();
    return previousSecretHash !== null && previousLives ? [secretHash, previousSecretHash] : [secretHash];
  }

  function remembersFor(client: Client, hash: string, secret: string): boolean {
    const entry = entryOf(client, hash);
    const proof = verified.get(entry);
    if (proof === undefined || !equalInConstantTime(proof, proofOf(client, hash, secret))) return false;
    verified.delete(entry);
    verified.set(entry, proof);
    return true;
  }

  function remember(client: Client, hash: string, secret: string): void {
    verified.set(entryOf(client, hash), proofOf(client, hash, secret));
    const [oldest] = verified.keys();
    if (verified.size > MOST_REMEMBERED && oldest !== undefined) verified.delete(oldest);
  }

  async function verifySlowly(client: Client, hashes: readonly string[], secret: string): Promise<boolean> {
    for (const hash of hashes) {
      if (await passwordHasher.verify(secret, hash)) {
        remember(client, hash, secret);
        return true;
      }
    }
    return false;
  }

  return {
    async isKnown(client, secret) {
      const hashes = acceptedHashes(client);
      const isRemembered = () => hashes.some((hash) => remembersFor(client, hash, secret));
      if (isRemembered()) return true;
      // After the other request's check nothing is taken from it but what it left to remember.
      await underWay.get(proofOf(client, hashes.join(), secret))?.catch(() => {});
      return isRemembered();
    },
    async verify(client, secret) {
      const hashes = client === null ? [] : acceptedHashes(client);
      if (client === null || hashes.length === 0) {
        decoy ??= await passwordHasher.hash(randomToken());
        await passwordHasher.verify(secret, decoy);
        return false;
      }
      const proof = proofOf(client, hashes.join(), secret);
      const verifying = underWay.get(proof) ?? verifySlowly(client, hashes, secret);
      underWay.set(proof, verifying);
      try {
        return await verifying;
      } finally {
        if (underWay.get(proof) === verifying) underWay.delete(proof);
      }
    },
  };
}
