import type { PasswordHasher } from '../host/contracts.ts';
import type { Client } from './store/store.ts';
import { randomToken } from './tokens.ts';

/** Checks client secrets with the hasher that the host uses for people. */
export interface ClientSecrets {
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

export function createClientSecrets({ passwordHasher, clock }: ClientSecretsOptions): ClientSecrets {
  let decoy: Promise<string> | null = null;
  return {
    async verify(client, secret) {
      if (client === null || client.secretHash === null) {
        decoy ??= passwordHasher.hash(randomToken());
        await passwordHasher.verify(secret, await decoy);
        return false;
      }
      if (await passwordHasher.verify(secret, client.secretHash)) return true;
      const { previousSecretHash, previousSecretExpiresAt } = client;
      if (previousSecretHash === null || previousSecretExpiresAt === null) return false;
      return previousSecretExpiresAt > clock() && (await passwordHasher.verify(secret, previousSecretHash));
    },
  };
}
