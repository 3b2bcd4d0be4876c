import { describe, expect, test } from 'vitest';
import { OAuthError } from '../../errors.ts';
import { BindingDemands, boundScopes, dpopProblems, type DpopMode } from './demands.ts';
import { DpopError } from './errors.ts';

const SCOPES = boundScopes({
  'notes:read': 'Read',
  'notes:write': { dpop: true },
  'notes:delete': { dpop: true },
});
const CLIENT = { pushesRequests: false, dpopBoundAccessTokens: false };
const DEMANDING = { pushesRequests: false, dpopBoundAccessTokens: true };

describe('A configuration that requires bound tokens while DPoP is off', () => {
  const scopes = {
    plain: 'A scope',
    unbound: { dpop: false },
    unsaid: {},
    'notes:write': { dpop: true },
    'notes:delete': { dpop: true },
  };
  const message = 'needs oauth_server:dpop; set oauth_server:dpop to "accept" or "require"';

  test('is reported for each setting that needs DPoP, and DPoP is off by default', () => {
    const bound = ['notes:write', 'notes:delete'].map((name) => ({
      key: `oauth_server:scopes:${name}:dpop`,
      message,
    }));
    expect(dpopProblems({ scopes })).toEqual(bound);
    expect(dpopProblems({ dpop: 'off', dpop_nonces: false, scopes })).toEqual(bound);
    expect(dpopProblems({ dpop_nonces: true, scopes })).toEqual([
      ...bound,
      { key: 'oauth_server:dpop_nonces', message },
    ]);
    expect(dpopProblems({ scopes: { plain: 'A scope' } })).toEqual([]);
  });

  test.each<DpopMode>(['accept', 'require'])('is not reported if dpop is %s', (dpop) => {
    expect(dpopProblems({ dpop, dpop_nonces: true, scopes })).toEqual([]);
  });
});

/** Returns why the server refuses to issue an unbound token, or null if the server issues it. */
function refusal(mode: DpopMode, client: typeof CLIENT, named: readonly string[], scopes = SCOPES) {
  try {
    new BindingDemands(mode, scopes).require(client, named, null);
    return null;
  } catch (error) {
    if (error instanceof DpopError) return [error.code, error.detail];
    if (error instanceof OAuthError) return [error.code, error.detail];
    throw error;
  }
}

describe('An unbound token', () => {
  const wanting = (reason: string) => [
    'invalid_dpop_proof',
    `the request has no proof, but the token must be bound to a key: ${reason}`,
  ];

  test('is issued if no bound token is required', () => {
    for (const mode of ['off', 'accept'] as const) {
      expect(refusal(mode, CLIENT, ['notes:read', 'unheard:of'])).toBeNull();
      expect(refusal(mode, CLIENT, [])).toBeNull();
      expect(refusal(mode, CLIENT, ['notes:write'], new Set())).toBeNull();
    }
  });

  test('is not issued if the client, the server or a scope requires a bound one', () => {
    expect(refusal('accept', DEMANDING, ['notes:write'])).toEqual(
      wanting('the client requires it'),
    );
    expect(refusal('require', CLIENT, [])).toEqual(wanting('oauth_server:dpop is "require"'));
    expect(refusal('accept', CLIENT, ['notes:read', 'notes:delete'])).toEqual(
      wanting('the scope notes:delete requires it'),
    );
  });

  test('is not issued if a bound one is required, even after DPoP was disabled', () => {
    expect(refusal('off', DEMANDING, [])).toEqual([
      'unauthorized_client',
      'the token must be bound to a key with DPoP (the client requires it), but ' +
        'oauth_server:dpop is off; set it to "accept" or "require"',
    ]);
    expect(refusal('off', CLIENT, ['notes:write'])?.[0]).toBe('unauthorized_client');
  });
});

test('A bound token meets every requirement', () => {
  for (const mode of ['accept', 'require'] as const) {
    const demands = new BindingDemands(mode, SCOPES);
    expect(() => demands.require(DEMANDING, ['notes:write'], 'a thumbprint')).not.toThrow();
  }
});

test('A token bound by a different feature does not meet a DPoP requirement while DPoP is off', () => {
  const demands = new BindingDemands('off', SCOPES);
  expect(() => demands.require(DEMANDING, ['notes:read'], 'a thumbprint')).toThrow(
    'have to be bound by DPoP',
  );
});
