import { describe, expect, test } from 'vitest';
import type { KeyProofError } from '../../errors.ts';
import type { Contribution } from '../../feature.ts';
import type { Server } from '../../server.ts';
import { dpop } from './index.ts';

const CLIENT = { pushesRequests: false, dpopBoundAccessTokens: false };

function start(config: object, algorithms: readonly string[] | null = null): Contribution {
  const server = {
    profiles: { servers: algorithms === null ? null : { algorithms } },
    config: { scopes: { 'notes:write': { dpop: true }, 'notes:read': 'Read' } },
    basePath: '',
    mountPath: '',
    clock: () => 0,
    sealer: { seal: async () => 'a nonce' },
  } as unknown as Server;
  return dpop.start?.(server, { scopes: server.config.scopes, ...config } as never) ?? {};
}

describe('DPoP', () => {
  test.each([{}, { dpop: 'off' }])('is off with the configuration %j', (config) => {
    expect(Object.keys(start(config))).toEqual(['issuanceCheck']);
    expect(dpop.tokenSchemes?.(config as never)).toEqual([]);
    expect(dpop.clientDemands?.[0]?.meets(config as never)).toBe(false);
  });

  test.each(['accept', 'require'])('is on with the mode %s', async (mode) => {
    const { binding, metadata, usesOnce } = start({ dpop: mode });
    const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
    expect({ metadata, usesOnce }).toEqual({
      metadata: { dpop_signing_alg_values_supported: algorithms },
      usesOnce: true,
    });
    expect(binding).toMatchObject({
      parameter: 'dpop_jkt',
      scopes: new Set(['notes:write']),
      offer: { scheme: 'DPoP', required: mode === 'require' },
    });
    expect(binding?.offer.parameters).toEqual({ algs: algorithms.join(' ') });
    expect(binding?.confirmation('a thumbprint')).toEqual({ jkt: 'a thumbprint' });
    expect(await binding?.answerFields()).toEqual({});
    expect(dpop.tokenSchemes?.({ dpop: mode } as never)).toEqual(['DPoP']);
    expect(dpop.clientDemands?.[0]?.meets({ dpop: mode } as never)).toBe(true);
  });

  test('offers only the algorithms of the profile of the server', () => {
    const { binding, metadata } = start({ dpop: 'accept' }, ['ES256']);
    expect(metadata).toEqual({ dpop_signing_alg_values_supported: ['ES256'] });
    expect(binding?.offer.parameters).toEqual({ algs: 'ES256' });
  });

  test('sends nonces only if they are on', async () => {
    const { binding } = start({ dpop: 'accept', dpop_nonces: true });
    expect(await binding?.answerFields()).toEqual({ 'DPoP-Nonce': 'a nonce' });
  });

  test('refuses an unbound token for a scope that requires a bound one', () => {
    for (const [mode, error] of [
      ['off', 'unauthorized_client'],
      ['accept', 'invalid_dpop_proof'],
    ]) {
      const { issuanceCheck } = start({ dpop: mode });
      const check = (scopes: readonly string[]) => () =>
        issuanceCheck?.(CLIENT as never, scopes, null);
      expect(check(['notes:write'])).toThrow(expect.objectContaining({ code: error }) as Error);
      expect(check(['notes:read'])).not.toThrow();
    }
  });

  test('names no nonce in an error without one', () => {
    const { issuanceCheck } = start({ dpop: 'require' });
    expect(() => issuanceCheck?.(CLIENT as never, [], null)).toThrow(
      expect.objectContaining({ fields: {}, nonce: null }) as KeyProofError,
    );
  });
});
