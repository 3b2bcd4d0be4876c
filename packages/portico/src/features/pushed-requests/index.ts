import type { ClientDemands } from '../../store/client-demands.ts';
import { defineFeature } from '../../feature.ts';
import { pushedShape } from './config.ts';
import { refuseUnpushed } from './demanded.ts';
import { PAR_PATH, ParEndpoint } from './endpoint.ts';
import { PushedRequests } from './pushed.ts';

/** Clients can push authorization requests before they redirect the browser (RFC 9126). */
export const pushedRequests = defineFeature({
  name: 'pushed_requests',
  config: pushedShape,
  clientDemands: [
    {
      metadata: 'require_pushed_authorization_requests',
      field: 'pushesRequests',
      meets: ({ pushed_authorization_requests: mode = 'off' }) => mode !== 'off',
      key: 'pushed_authorization_requests',
      unmet:
        'oauth_server:pushed_authorization_requests is off; set it to "accept" or "require" first',
      effect: 'these clients, which must push their requests, cannot get access',
      isStrict: false,
      option: {
        flag: '--par',
        says:
          'the application must push its authorization requests (RFC 9126). Requires ' +
          'oauth_server:pushed_authorization_requests to be accept or require',
      },
      shown: {
        what: 'requests',
        as: 'pushed (RFC 9126), and no others',
        inFull: 'pushed (RFC 9126), and no others',
      },
    },
  ],
  endpoints: [
    {
      name: 'oauth_server_par',
      path: PAR_PATH,
      methods: ['POST'],
      anyOrigin: true,
      operations: async () => (await import('./operations.ts')).parOperations,
    },
  ],
  start(server, { pushed_authorization_requests: mode = 'off' }) {
    const indirectRefusal = (client: ClientDemands) => refuseUnpushed(client, mode === 'require');
    if (mode === 'off') return { indirectRefusal };
    const { issuer } = server;
    const directRequests = new PushedRequests(server);
    return {
      indirectRefusal,
      directRequests,
      metadata: {
        pushed_authorization_request_endpoint: `${issuer}${PAR_PATH}`,
        ...(mode === 'require' ? { require_pushed_authorization_requests: true } : {}),
      },
      handlers: (parts) => ({
        oauth_server_par: new ParEndpoint(directRequests, server, parts).answer,
      }),
    };
  },
});
