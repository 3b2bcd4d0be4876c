import { describe, expect, test } from 'vitest';
import type { BindingOffer } from '../http/challenges.ts';
import { dpopOffer } from '../http/dpop.ts';
import { ProtectedResource, type PublishedResource } from './protected-resource.ts';
import type { Server } from '../server.ts';

const ISSUER = 'https://portal.example';
const SERVER = {
  issuer: ISSUER,
  config: { audience: `${ISSUER}/mcp`, name: 'Portal', scopes: { 'notes:read': 'Read' } },
  admitsUnverified: false,
} as unknown as Server;
const PUBLISHED: PublishedResource = {
  metadataUrl: `${ISSUER}/.well-known/oauth-protected-resource/mcp`,
  stepUp: true,
};

const resourceOf = (resource: PublishedResource | null = null, offer?: BindingOffer) =>
  new ProtectedResource(SERVER, { binding: offer === undefined ? null : { offer }, resource });

test('the metadata URL of a resource is in challenges only if the metadata is published', () => {
  expect(resourceOf().metadataUrl).toBeNull();
  expect(resourceOf(PUBLISHED).metadataUrl).toBe(PUBLISHED.metadataUrl);
});

describe('the metadata of a resource', () => {
  test('contains the resource, its authorization server, its scopes and its name', () => {
    expect(resourceOf().metadata()).toEqual({
      resource: `${ISSUER}/mcp`,
      authorization_servers: [ISSUER],
      scopes_supported: ['notes:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Portal',
    });
  });

  test('contains how tokens may be bound, if DPoP is enabled', () => {
    const binding = dpopOffer({ algorithms: ['ES256'], required: true });
    const offered = resourceOf(null, binding);
    expect(offered.metadata()).toMatchObject({
      resource: `${ISSUER}/mcp`,
      dpop_signing_alg_values_supported: ['ES256'],
      dpop_bound_access_tokens_required: true,
    });
  });

  test('is replaced by the metadata that the resource provides', () => {
    const resource = resourceOf();
    const metadata = { resource: 'https://portal.example/own' };
    resource.add({ metadata });
    expect(resource.metadata()).toBe(metadata);
  });
});

describe('the requirements of a resource', () => {
  test('include step-up authorization if challenges are enabled', () => {
    expect([resourceOf(PUBLISHED).needs(), resourceOf().needs()]).toEqual([
      { stepUp: true },
      { stepUp: false },
    ]);
  });

  test('include what each of its parts has added', () => {
    const resource = resourceOf();
    resource.add({ serviceScope: 'mcp:service' });
    resource.add({ stepUp: true });
    expect(resource.needs()).toEqual({ stepUp: true, serviceScope: 'mcp:service' });
  });
});
