import { ConfigurationError } from '@portico/sql';
import { defineFeature } from '../../feature.ts';
import { backChannelLogoutShape } from './config.ts';
import { createLogoutDelivery } from './delivery.ts';
import { logoutMetadata } from './metadata.ts';
import { backChannelLogoutMigrations } from './migrations.ts';
import { describeSession, LOGOUT, SessionLogout } from './session-logout.ts';

declare module '../../store/pruning.ts' {
  interface PrunedRows {
    /**
     * How many old records of sessions and of sign-ins to clients were deleted. Missing if
     * `back_channel_logout` is off.
     */
    readonly sessionClients?: number;
  }
}

const BATCH = 100;

/** Notifies clients when a user signs out (OpenID Connect Back-Channel Logout 1.0). */
export const backChannelLogout = defineFeature({
  name: 'back_channel_logout',
  config: backChannelLogoutShape,
  clientMetadata: logoutMetadata,
  migrations: ({ back_channel_logout: isOn = false }) => (isOn ? backChannelLogoutMigrations : []),
  sendsMessages: ({ back_channel_logout: isOn = false }) => isOn,
  start(server, { back_channel_logout: isOn = false }) {
    if (!isOn) return {};
    const { sessionId } = server.host;
    if (sessionId === null) {
      const message =
        'needs sessionId in the host contract; add sessionId, or set this setting to false';
      throw new ConfigurationError([{ key: 'oauth_server:back_channel_logout', message }]);
    }
    const logout = new SessionLogout(server, sessionId);
    return {
      metadata: {
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
      },
      metadataValues: { claims_supported: ['sid'] },
      requestParameters: ['scope'],
      keepsDetails: (allowed) => logout.details(allowed),
      describe: (details, place) => (place === 'id_token' ? describeSession(details) : {}),
      sid: (request, clientId) => logout.sid(request, clientId),
      sessionEnded: (connection, ended) => logout.end(connection, ended),
      forgetsPerson: (person) => logout.forget(person),
      deliveries: { [LOGOUT]: createLogoutDelivery(server) },
      expiring: {
        kind: 'sessionClients',
        called: 'records of sign-ins at clients',
        which: 'are no longer needed',
        batch: BATCH,
        remove: (limit) => logout.prune(limit),
      },
    };
  },
});
