import { PRIVATE_KEY_JWT } from '../../clients/credentials.ts';
import { defineFeature } from '../../feature.ts';
import { fapi2Shape } from './config.ts';
import {
  clientProblem,
  FAPI2_RULES,
  LEAST_AHEAD,
  LONGEST_AHEAD,
  LONGEST_CODE,
  PROFILED_ALGORITHMS,
} from './rules.ts';

/** Applies the FAPI 2.0 Security Profile to the whole server or to individual clients. */
export const fapi2 = defineFeature({
  name: 'fapi2',
  config: fapi2Shape,
  profile: {
    name: 'fapi2',
    says:
      'the client must meet the FAPI 2.0 Security Profile (docs/security-profile.md); needs ' +
      '--jwks',
    isServers: ({ profile }) => profile === 'fapi2',
    demanded: { private_key_jwt: true, dpop: 'require', pushed_authorization_requests: 'require' },
    needs: ['clientAssertions', 'binding', 'directRequests'],
    problems: (config) => FAPI2_RULES.flatMap(({ server }) => server?.(config) ?? []),
    missing: (config) => FAPI2_RULES.flatMap(({ needs }) => needs?.(config) ?? []),
    algorithms: PROFILED_ALGORITHMS,
    idTokenAlgorithms: ['ES256', 'EdDSA'],
    authenticationMethods: [PRIVATE_KEY_JWT],
    longestCode: LONGEST_CODE,
    redirectStatus: 303,
    refreshTokensStay: true,
    missingVerifierIsWrong: true,
    onlyIssuerIsAudience: true,
    leastAhead: LEAST_AHEAD,
    longestAhead: LONGEST_AHEAD,
    clientProblem: (client) => clientProblem(client, 'client'),
    registrationProblem: (client) =>
      clientProblem(client, 'client') ?? clientProblem(client, 'registration'),
  },
});
