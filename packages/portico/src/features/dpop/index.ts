import { DPOP_SCHEME } from '../../http/dpop.ts';
import type { IssuanceCheck } from '../../grants/issuing.ts';
import { defineFeature } from '../../feature.ts';
import { DpopBinding, proofAlgorithms } from './binding.ts';
import { dpopScopeShape, dpopShape } from './config.ts';
import { BindingDemands, boundScopes, dpopProblems } from './demands.ts';
import { Dpop } from './dpop.ts';
import { DpopNonces } from './nonces.ts';

/** Binds access tokens to a key of the client with DPoP (RFC 9449). */
export const dpop = defineFeature({
  name: 'dpop',
  config: dpopShape,
  scopeConfig: dpopScopeShape,
  problems: dpopProblems,
  errorCodes: ['invalid_dpop_proof', 'use_dpop_nonce'],
  tokenSchemes: ({ dpop: mode = 'off' }) => (mode === 'off' ? [] : [DPOP_SCHEME]),
  clientDemands: [
    {
      metadata: 'dpop_bound_access_tokens',
      field: 'dpopBoundAccessTokens',
      meets: ({ dpop: mode = 'off' }) => mode !== 'off',
      key: 'dpop',
      unmet: 'oauth_server:dpop is off; set it to "accept" first',
      effect: 'these clients, which require bound tokens, cannot get tokens',
      isStrict: true,
      option: {
        flag: '--dpop',
        says:
          "the application's tokens must be bound to its key with DPoP (RFC 9449). Requires " +
          'oauth_server:dpop to be accept or require',
      },
      shown: {
        what: 'tokens',
        as: 'bound to its key (DPoP)',
        inFull: 'bound to its key (DPoP, RFC 9449)',
      },
    },
  ],
  start(server, config) {
    const { dpop: mode = 'off', dpop_nonces: withNonces = false, scopes } = config;
    const demands = new BindingDemands(mode, boundScopes(scopes));
    const issuanceCheck: IssuanceCheck = (...token) => demands.require(...token);
    if (mode === 'off') return { issuanceCheck };
    const nonces = withNonces ? new DpopNonces(server.sealer, server.clock) : null;
    return {
      issuanceCheck,
      binding: new DpopBinding(server, new Dpop(server, nonces), mode),
      metadata: {
        dpop_signing_alg_values_supported: proofAlgorithms(
          server.profiles.servers?.algorithms ?? null,
        ),
      },
      usesOnce: true,
    };
  },
});
