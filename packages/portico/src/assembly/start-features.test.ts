import { describe, expect, test } from 'vitest';
import { demands } from '../store/client-demands.fixture.ts';
import { NO_DEMANDS, type ClientDemand } from '../store/client-demands.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { startFeatures } from './start-features.ts';

/**
 * Issues a token for this client, on a server with these demands and no feature that meets them.
 */
function issue(offered: readonly ClientDemand[], client: Partial<Client>): void {
  const outbox = { isOn: false };
  const furtherMetadata = { fields: [] };
  const server = { demands: offered, outbox, furtherMetadata } as unknown as Server;
  const { issuanceChecks } = startFeatures([], server);
  for (const check of issuanceChecks) void check({ ...NO_DEMANDS, ...client } as Client, [], null);
}

describe('a client with a requirement that no feature implements', () => {
  test.each(['pushesRequests', 'dpopBoundAccessTokens'] as const)('gets no token: %s', (field) => {
    const others = demands().filter((demand) => demand.field !== field);
    expect(() => issue(others, { [field]: true })).toThrowError(
      expect.objectContaining({ code: 'unauthorized_client' }) as Error,
    );
    expect(() => issue(others, {})).not.toThrow();
    expect(() => issue(demands(), { [field]: true })).not.toThrow();
  });
});
