import type { ClientArrival } from '../../server.ts';
import { defineFeature, type Contribution } from '../../feature.ts';
import { registrationShape } from './config.ts';
import { REGISTER_PATH, RegisterEndpoint } from './endpoint.ts';
import { examineRegistration, NEW_TOKEN } from './examination.ts';
import { StoredInitialAccessTokens } from './initial-access-tokens.ts';
import { RegistrationRecords } from './records.ts';
import { Registrations } from './registrations.ts';

declare module '../../store/store.ts' {
  interface FeatureRecords {
    readonly registrations: RegistrationRecords;
  }
}

const ARRIVALS = {
  off: [],
  open: [
    {
      says: 'clients register themselves',
      as: 'by themselves, any application',
      tokens: {
        says:
          'Anyone may register an application here, as a public client. A token lifts the ' +
          'limits.',
        command: null,
      },
    },
  ],
  initial_access_token: [
    {
      says: 'clients register themselves with an initial access token',
      as: 'by themselves, with an initial access token',
      tokens: {
        says: 'Applications register themselves with one of these tokens.',
        command: NEW_TOKEN,
      },
    },
  ],
} as const satisfies Record<string, readonly ClientArrival[]>;

const OPEN_WITH_SECRETS: readonly ClientArrival[] = ARRIVALS.open.map((arrival) => ({
  ...arrival,
  tokens: {
    ...arrival.tokens,
    says: 'Anyone may register an application here, also with a secret. A token lifts the limits.',
  },
}));

/** Clients can register themselves (RFC 7591) and manage their registrations (RFC 7592). */
export const registration = defineFeature({
  name: 'registration',
  config: registrationShape,
  endpoints: [
    {
      name: 'oauth_server_register',
      path: REGISTER_PATH,
      methods: ['POST', 'GET', 'PUT', 'DELETE'],
      anyOrigin: true,
      operations: async () => (await import('./operations.ts')).registrationOperations,
    },
  ],
  arrivals: ({ registration: mode = 'off', registration_secret_ttl: ttl }) =>
    mode === 'open' && ttl !== undefined ? OPEN_WITH_SECRETS : ARRIVALS[mode],
  commands: async () => (await import('./commands.ts')).addInitialAccessTokenCommands,
  records: (database) => ({ registrations: new RegistrationRecords(database) }),
  start(server, { registration: mode = 'off' }) {
    // An operator can create initial access tokens before registration is on.
    const initialAccessTokens = new StoredInitialAccessTokens(server);
    const always = {
      members: () => ({ initialAccessTokens }),
      examination: () => ({
        part: 'registration',
        of: 'clients',
        findings: () =>
          mode === 'off' ? [] : examineRegistration(server, initialAccessTokens, mode),
      }),
    } satisfies Contribution;
    if (mode === 'off') return always;
    return {
      ...always,
      metadata: { registration_endpoint: `${server.issuer}${REGISTER_PATH}` },
      handlers: (parts) => ({
        oauth_server_register: new RegisterEndpoint(new Registrations(server, parts), server)
          .answer,
      }),
    };
  },
});
