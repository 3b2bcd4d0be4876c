import { ok, warning } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { Contribution } from '../../feature.ts';
import type { Server } from '../../server.ts';
import type { Client, InitialAccessToken } from '../../store/client.ts';
import { addInitialAccessTokenCommands } from './commands.ts';
import { registration } from './index.ts';
import { registrationOperations } from './operations.ts';
import { RegistrationRecords } from './records.ts';

const NOW = 1_800_000_000_000;
const CLIENTS: readonly Partial<Client>[] = [
  { registeredBy: 'operator', revokedAt: null, usedAt: null },
  { registeredBy: 'registration', revokedAt: null, usedAt: null },
  { registeredBy: 'registration', revokedAt: null, usedAt: NOW },
  { registeredBy: 'registration', revokedAt: null, usedAt: NOW },
  { registeredBy: 'registration', revokedAt: NOW, usedAt: null },
];
const TOKEN = { usesLeft: 1, expiresAt: NOW + 1 } as InitialAccessToken;

/** Returns what the feature adds to a server with these clients. It has two pages of them. */
function start(config: object = {}, tokens: readonly InitialAccessToken[] = []): Contribution {
  const pages = [CLIENTS, CLIENTS].map((clients, page) =>
    Array.from({ length: page === 0 ? 1001 : 5 }, (_, index) => ({
      id: `${page}${index}`.padStart(5, '0'),
      registeredBy: 'document',
      ...clients[index],
    })),
  );
  const server = {
    issuer: 'https://portal.example',
    config,
    clock: () => NOW,
    grantTypes: () => ({}),
    store: {
      clients: { listClientsAfter: async (after: string) => pages[after === '' ? 0 : 1] },
      initialAccessTokens: { listInitialAccessTokens: async () => tokens },
    },
  } as unknown as Server;
  return registration.start?.(server, config as never) ?? {};
}

/** Returns the findings about these clients. */
async function examine(mode: string, ...tokens: readonly InitialAccessToken[]) {
  const examination = start({ registration: mode }, tokens).examination?.({} as never);
  expect(examination).toMatchObject({ part: 'registration', of: 'clients' });
  return examination?.findings?.({} as never);
}

describe('registration', () => {
  test.each([{}, { registration: 'off' }])('is off with the configuration %j', async (config) => {
    expect(Object.keys(start(config))).toEqual(['members', 'examination']);
    expect(registration.arrivals?.(config as never)).toEqual([]);
    expect(await examine('off')).toEqual([]);
  });

  test('always has its rows, its console commands, and tokens for later', async () => {
    const { registrations } = registration.records?.({} as never) ?? {};
    expect(registrations).toBeInstanceOf(RegistrationRecords);
    expect(Object.keys(start().members?.({} as never) ?? {})).toEqual(['initialAccessTokens']);
    expect(await registration.commands?.()).toBe(addInitialAccessTokenCommands);
    expect(await registration.endpoints?.[0]?.operations?.()).toBe(registrationOperations);
  });

  test.each(['open', 'initial_access_token'])('has an endpoint with %s', (mode) => {
    const { metadata, handlers } = start({ registration: mode });
    expect(metadata).toEqual({ registration_endpoint: 'https://portal.example/oauth/register' });
    expect(Object.keys(handlers?.({} as never) ?? {})).toEqual(['oauth_server_register']);
  });

  test('says how clients arrive', () => {
    const arrivals = (config: object) => registration.arrivals?.(config as never);
    const open =
      'Anyone may register an application here, as a public client. A token lifts the limits.';
    expect(arrivals({ registration: 'open' })).toMatchObject([
      { says: 'clients register themselves', tokens: { says: open, command: null } },
    ]);
    expect(arrivals({ registration: 'open', registration_secret_ttl: 3600 })).toMatchObject([
      {
        says: 'clients register themselves',
        tokens: { says: expect.stringContaining('also with a secret') as string, command: null },
      },
    ]);
    for (const more of [{}, { registration_secret_ttl: 3600 }])
      expect(arrivals({ registration: 'initial_access_token', ...more })).toMatchObject([
        { tokens: { command: 'npx portico oauth:initial-access-token:create' } },
      ]);
  });
});

describe('the examination of registration', () => {
  const FOUND = 'clients that registered themselves: 6 (never used: 2)';

  test('counts the clients on every page', async () => {
    expect(await examine('open')).toEqual([ok(`any client can register; ${FOUND}`)]);
  });

  test('warns if no initial access token is valid', async () => {
    const useless = [
      { ...TOKEN, usesLeft: 0 },
      { ...TOKEN, expiresAt: NOW },
    ];
    expect(await examine('initial_access_token', ...useless, TOKEN)).toEqual([
      ok(`clients can register with an initial access token; ${FOUND}`),
    ]);
    expect(await examine('initial_access_token', ...useless)).toEqual([
      warning(
        `no client can register, because there is no valid initial access token; ${FOUND}`,
        'run npx portico oauth:initial-access-token:create',
      ),
    ]);
  });
});
