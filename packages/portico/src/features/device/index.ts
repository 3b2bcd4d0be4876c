import { defineFeature, type Contribution } from '../../feature.ts';
import { inSteps } from '../../store/batches.ts';
import { DeviceCodes } from './codes.ts';
import { deviceShape } from './config.ts';
import { DEVICE_AUTHORIZATION_PATH, DeviceAuthorizationEndpoint } from './endpoint.ts';
import { DEVICE_ERRORS } from './errors.ts';
import { deviceGrant } from './grant.ts';
import { deviceMigrations } from './migrations.ts';
import { DEVICE_PATH, VerificationPage } from './page.ts';

declare module '../../store/pruning.ts' {
  interface PrunedRows {
    /** How many expired device requests were deleted. Missing if `device_authorization` is off. */
    readonly deviceRequests?: number;
  }
}

const BATCH = 100;
/** How long expired requests are kept, in milliseconds. */
const MARGIN = 3_600_000;

/** Lets devices without a browser request access (RFC 8628). */
export const device = defineFeature({
  name: 'device',
  config: deviceShape,
  errorCodes: [...DEVICE_ERRORS, 'user_code_mistyped', 'user_code_unknown', 'user_code_slowed'],
  migrations: ({ device_authorization: isOn = false }) => (isOn ? deviceMigrations : []),
  endpoints: [
    {
      name: 'oauth_server_device_authorization',
      path: DEVICE_AUTHORIZATION_PATH,
      methods: ['POST'],
      operations: async () => (await import('./operations.ts')).deviceAuthorizationOperations,
    },
    {
      name: 'oauth_server_device',
      path: DEVICE_PATH,
      methods: ['GET'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).devicePageOperations,
    },
    {
      name: 'oauth_server_answer_device',
      path: DEVICE_PATH,
      methods: ['POST'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).answerDeviceOperations,
    },
  ],
  start(server, { device_authorization: isOn = false }) {
    if (!isOn) return {};
    const { issuer, database, clock, profiles } = server;
    const codes = new DeviceCodes(database);
    const stored: Contribution = {
      endsRequests: async () => {
        await inSteps((after) => codes.endWaiting(after, BATCH));
      },
      expiring: {
        kind: 'deviceRequests',
        called: 'requests of devices',
        which: 'have expired',
        batch: BATCH,
        remove: (limit) => codes.removeExpired(clock() - MARGIN, limit),
      },
    };
    // A client with a security profile cannot use the device grant. If every client has the
    // profile, do not offer it.
    if (profiles.servers !== null) return stored;
    return {
      ...stored,
      metadata: { device_authorization_endpoint: `${issuer}${DEVICE_AUTHORIZATION_PATH}` },
      grants: [deviceGrant(codes)],
      handlers: (parts) => {
        const page = new VerificationPage(server, parts, codes);
        const uri = `${issuer}${DEVICE_PATH}`;
        return {
          oauth_server_device_authorization: new DeviceAuthorizationEndpoint(
            server,
            parts,
            codes,
            uri,
          ).answer,
          oauth_server_device: (request) => page.show(request),
          oauth_server_answer_device: (request) => page.answer(request),
        };
      },
    };
  },
});
