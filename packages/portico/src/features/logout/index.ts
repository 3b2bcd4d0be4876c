import { ConfigurationError } from '@portico/sql';
import { redirectUriProblem } from '../../clients/redirect-uris.ts';
import { defineFeature } from '../../feature.ts';
import { logoutShape } from './config.ts';
import { LOGOUT_PATH, LogoutEndpoint } from './endpoint.ts';
import { REDIRECT_URIS } from './request.ts';

/** Clients can sign users out of this server (OpenID Connect RP-Initiated Logout 1.0). */
export const logout = defineFeature({
  name: 'logout',
  config: logoutShape,
  clientMetadata: [
    {
      name: REDIRECT_URIS,
      called: 'post-logout redirect URI',
      option: {
        flag: '--post-logout-redirect <uri>',
        says:
          'a URL to which people can return after the application signs them out; requests ' +
          'must use exactly this URL (repeatable)',
      },
      most: 20,
      problem: (uri, applicationType) => redirectUriProblem(uri, applicationType),
      isOffered: ({ logout: isOn = false }) => isOn,
    },
  ],
  endpoints: [
    {
      name: 'oauth_server_logout',
      path: LOGOUT_PATH,
      methods: ['GET'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).logoutOperations,
    },
    {
      name: 'oauth_server_answer_logout',
      path: LOGOUT_PATH,
      methods: ['POST'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).answerLogoutOperations,
    },
  ],
  start(server, { logout: isOn = false }) {
    if (!isOn) return {};
    const { endSession } = server.host;
    if (endSession === null) {
      const message =
        'needs signOut in the host contract; add signOut, or set this setting to false';
      throw new ConfigurationError([{ key: 'oauth_server:logout', message }]);
    }
    return {
      metadata: { end_session_endpoint: `${server.issuer}${LOGOUT_PATH}` },
      handlers: (parts) => {
        const endpoint = new LogoutEndpoint(server, parts, endSession);
        return {
          oauth_server_logout: (request) => endpoint.show(request),
          oauth_server_answer_logout: (request) => endpoint.answer(request),
        };
      },
    };
  },
});
