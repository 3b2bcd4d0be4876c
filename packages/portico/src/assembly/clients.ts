import type { Server } from '../server.ts';
import { FailedAttempts } from '../http/failed-attempts.ts';
import { createClientAuthentication, type AuthenticateClient } from '../clients/authentication.ts';
import { createChecking, type CheckNewClient } from '../clients/checking.ts';
import { createClients, type Clients, type FindClient } from '../clients/clients.ts';
import { createClientSecrets, type ClientSecrets } from '../clients/secrets.ts';
import type { Client } from '../store/client.ts';
import type { Contributions } from './start-features.ts';

/** Handles clients, from their registration to their authentication. */
export interface ClientParts {
  readonly clients: Clients;
  /** Checks a new client of an operator. */
  readonly checkNewClient: CheckNewClient;
  readonly secrets: ClientSecrets;
  /** The problems of the keys with which this client authenticates, as they are now. */
  readonly clientKeyProblems: (client: Client) => Promise<readonly string[]>;
  /**
   * Authenticates these clients at the endpoints of these paths: an assertion may name this server
   * by either.
   */
  readonly authenticating: (findClient: FindClient, ...paths: readonly string[]) => AuthenticateClient;
}

/** Assembles the parts for clients. */
export function assembleClients(
  server: Server,
  {
    clientSource,
    clientAssertions,
    logos,
    secretHasher,
  }: Pick<Contributions, 'clientSource' | 'clientAssertions' | 'logos' | 'secretHasher'>,
): ClientParts {
  const { issuer, store, host, scopes, keys, profiles } = server;
  const { fetching, demands, audit, clock, random } = server;
  const { passwordHasher } = host;
  const { anyPort } = fetching;
  const assertions = clientAssertions?.(clientSource) ?? null;
  const takesKeys = assertions !== null;
  const checkNew = createChecking({ scopes, keys, takesKeys, demands, profiles, anyPort });
  const clients = createClients({
    store,
    scopes,
    keys,
    logos,
    takesKeys,
    anyPort,
    profiles,
    checkNew,
    passwordHasher,
    clock,
    audit,
  });
  const secrets = createClientSecrets({ passwordHasher: secretHasher ?? passwordHasher, clock });
  const failedAttempts = new FailedAttempts(clock, random);
  const failedAssertions = new FailedAttempts(clock, random);
  const assertionsAt = (paths: readonly string[]) =>
    assertions === null
      ? null
      : { reader: assertions, verify: assertions.verifierAt(paths.map((path) => `${issuer}${path}`)) };
  return {
    clients,
    clientKeyProblems: async ({ id, keys: own }) =>
      own === null || assertions === null ? [] : assertions.problems({ id, keys: own }),
    checkNewClient: checkNew,
    secrets,
    authenticating: (findClient, ...paths) =>
      createClientAuthentication({
        findClient,
        secrets,
        assertions: assertionsAt(paths),
        profiles,
        failedAttempts,
        failedAssertions,
        host,
        audit,
        clock,
      }),
  };
}
