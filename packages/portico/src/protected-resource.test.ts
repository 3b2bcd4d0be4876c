import { ConfigurationError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { BindingOffer } from './http/challenges.ts';
import { dpopOffer } from './http/dpop.ts';
import { challengeProblems, createProtectedResource } from './protected-resource.ts';
import type { Server } from './server.ts';

const ISSUER = 'https://portal.example';
const CONFIG = {
  audience: `${ISSUER}/mcp`,
  challenge: true,
  name: 'Portal',
  scopes: { 'notes:read': 'Read' },
};

/** The resource of this configuration. */
const resourceOf = (changes: Partial<typeof CONFIG> = {}, issuer = ISSUER, binding?: BindingOffer) => {
  const server = { issuer, config: { ...CONFIG, ...changes }, admitsUnverified: false } as unknown;
  return createProtectedResource(server as Server, binding ?? null);
};

describe("the address of a resource's metadata", () => {
  test.each([
    [ISSUER, `${ISSUER}/.well-known/oauth-protected-resource`],
    [`${ISSUER}/`, `${ISSUER}/.well-known/oauth-protected-resource`],
    [`${ISSUER}/mcp`, `${ISSUER}/.well-known/oauth-protected-resource/mcp`],
    [`${ISSUER}/a/b/?c=d`, `${ISSUER}/.well-known/oauth-protected-resource/a/b/?c=d`],
    [`${ISSUER}?c=d`, `${ISSUER}/.well-known/oauth-protected-resource?c=d`],
  ])('%s: %s', (audience, url) => {
    expect(resourceOf({ audience }).metadataUrl).toBe(url);
  });

  test('is in challenges only if that is switched on', () => {
    expect(resourceOf({ challenge: false }).metadataUrl).toBeNull();
  });

  test("is on the server's origin, below the resource's path", () => {
    expect(resourceOf({}, `${ISSUER}/below`).metadataUrl).not.toBeNull();
  });
});

describe('the metadata of a resource', () => {
  test('has what the server knows about it', () => {
    expect(resourceOf().metadata()).toEqual({
      resource: `${ISSUER}/mcp`,
      authorization_servers: [ISSUER],
      scopes_supported: ['notes:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Portal',
    });
  });

  test('says how tokens may be bound, if they can be', () => {
    const binding = dpopOffer({ algorithms: ['ES256'], required: true });
    const offered = resourceOf({}, ISSUER, binding);
    expect(offered.metadata()).toMatchObject({
      resource: `${ISSUER}/mcp`,
      dpop_signing_alg_values_supported: ['ES256'],
      dpop_bound_access_tokens_required: true,
    });
  });

  test('has what the resource says itself, once it does', () => {
    const resource = resourceOf();
    const metadata = { resource: 'https://portal.example/own' };
    resource.add({ metadata });
    expect(resource.metadata()).toBe(metadata);
  });
});

describe('the requirements of a resource', () => {
  test('include a step-up if challenges tell clients which scopes to ask for', () => {
    expect([resourceOf().needs(), resourceOf({ challenge: false }).needs()]).toEqual([
      { stepUp: true },
      { stepUp: false },
    ]);
  });

  test('include what each of its parts has added', () => {
    const resource = resourceOf({ challenge: false });
    resource.add({ serviceScope: 'mcp:service' });
    resource.add({ stepUp: true });
    expect(resource.needs()).toEqual({ stepUp: true, serviceScope: 'mcp:service' });
  });
});

describe('challenges', () => {
  const key = 'oauth_server:challenge';

  test.each([
    ['', 'needs oauth_server:audience: the API that the metadata in a challenge describes'],
    [
      'https://api.example/mcp',
      'cannot publish the metadata of https://api.example/mcp, which is not on https://portal.example; challenge there, with @portico/resource-server',
    ],
    [
      'http://portal.example/mcp',
      'cannot publish the metadata of http://portal.example/mcp, which is not on https://portal.example; challenge there, with @portico/resource-server',
    ],
  ])('cannot name the metadata of %j', (audience, message) => {
    expect(challengeProblems({ challenge: true, audience }, `${ISSUER}/below`)).toEqual([{ key, message }]);
    expect(() => resourceOf({ audience })).toThrow(new ConfigurationError([{ key, message }]));
    expect(challengeProblems({ challenge: false, audience }, ISSUER)).toEqual([]);
    expect(resourceOf({ audience, challenge: false }).metadata()).toMatchObject({ resource: audience });
  });

  test('can name that of a resource on the server', () => {
    expect(challengeProblems(CONFIG, `${ISSUER}/below`)).toEqual([]);
  });
});
