import type { OAuthServerConfig } from '../../config.ts';
import type { OfferedField } from '../../feature.ts';
import { fetchableUrlProblem, portProblem } from '../../http/outbound/fetchable-urls.ts';
import { MARKED } from '../../store/further-metadata.ts';
import type { BackChannelLogoutConfig } from './config.ts';

/** The client metadata field that contains the URI for logout tokens (section 2.2). */
export const LOGOUT_URI = 'backchannel_logout_uri';

type Config = OAuthServerConfig & BackChannelLogoutConfig;

/**
 * `backchannel_logout_session_required` has no effect, because every logout token contains a `sid`.
 */
export const logoutMetadata: readonly OfferedField<Config>[] = [
  {
    name: LOGOUT_URI,
    called: 'back-channel logout URI',
    shape: 'text',
    selfRegistered: 'with-token',
    option: {
      flag: '--backchannel-logout-uri <uri>',
      says: 'the https URL that the server notifies when a person has signed out',
    },
    most: 1,
    problem: (uri, _, { anyPort }) =>
      fetchableUrlProblem(uri) ?? portProblem(new URL(uri), anyPort),
    isOffered: ({ back_channel_logout: isOn = false }) => isOn,
  },
  {
    name: 'backchannel_logout_session_required',
    called: 'requirement of a session',
    shape: 'flag',
    selfRegistered: 'with-token',
    most: 1,
    problem: (value) => (value === MARKED ? null : `is not ${MARKED}`),
    isOffered: ({ back_channel_logout: isOn = false }) => isOn,
  },
];
