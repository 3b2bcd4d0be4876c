import { defineFeature } from '../../feature.ts';
import { REGISTER_PATH, RegisterEndpoint } from './endpoint.ts';
import { StoredInitialAccessTokens } from './initial-access-tokens.ts';
import { Registrations } from './registrations.ts';

/** Clients that register themselves (RFC 7591), and manage their registration (RFC 7592). */
export const registration = defineFeature({
  name: 'registration',
  endpoints: [
    {
      name: 'oauth_server_register',
      path: REGISTER_PATH,
      methods: ['POST', 'GET', 'PUT', 'DELETE'],
      anyOrigin: true,
    },
  ],
  commands: async () => (await import('./commands.ts')).addInitialAccessTokenCommands,
  start(server, { registration: mode = 'off' }) {
    // An operator can make tokens before registration is switched on.
    const members = { initialAccessTokens: new StoredInitialAccessTokens(server) };
    if (mode === 'off') return { members: () => members };
    return {
      members: () => members,
      handlers: (parts) => ({
        oauth_server_register: new RegisterEndpoint(new Registrations(server, parts), server).answer,
      }),
    };
  },
});
