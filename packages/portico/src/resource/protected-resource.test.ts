import { describe, expect, test } from 'vitest';
import type { BindingOffer } from '../http/challenges.ts';
import { dpopOffer } from '../http/dpop.ts';
import { Resources, type ResourceDescription } from '../tokens/resource-indicators.ts';
import {
  ProtectedResource,
  ProtectedResources,
  type PublishedResource,
} from './protected-resource.ts';
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

describe('the configured resources', () => {
  const described = (name: string, more: object = {}): ResourceDescription => ({
    resource: `${ISSUER}/${name}`,
    scopes: [`${name}:read`],
    label: null,
    metadataUrl: `${ISSUER}/.well-known/oauth-protected-resource/${name}`,
    challenge: false,
    ...more,
  });
  const MCP = described('mcp', { label: 'The tools' });
  const FILES = described('files', { challenge: true });
  const BARE = described('bare', { scopes: [], metadataUrl: null, challenge: true });

  function start(all: readonly ResourceDescription[], audience: string | null = MCP.resource) {
    const server = {
      ...SERVER,
      config: { ...SERVER.config, audience },
      audience,
      resources: new Resources(audience, new Map(), all),
    } as unknown as Server;
    const offer = dpopOffer({ algorithms: ['ES256'], required: false });
    return new ProtectedResources(server, { binding: { offer }, resource: PUBLISHED });
  }

  test('are found by their audience, and any other audience is that of the main one', () => {
    const resources = start([MCP, FILES]);
    expect(resources.of(MCP.resource)).toBe(resources.main);
    expect(resources.of(FILES.resource)).not.toBe(resources.main);
    for (const audience of [null, 'https://other.example'])
      expect(resources.of(audience)).toBe(resources.main);
  });

  test('describe themselves, with the name of the server if they have none', () => {
    const resources = start([MCP, FILES, BARE]);
    expect(resources.main.metadata()).toMatchObject({
      resource: MCP.resource,
      scopes_supported: ['mcp:read'],
      resource_name: 'The tools',
    });
    expect(resources.of(FILES.resource).metadata()).toMatchObject({
      resource: FILES.resource,
      scopes_supported: ['files:read'],
      resource_name: 'Portal',
      dpop_signing_alg_values_supported: ['ES256'],
    });
    expect(resources.of(BARE.resource).metadata()).not.toHaveProperty('scopes_supported');
  });

  test('are in challenges only if their configuration says so', () => {
    const resources = start([MCP, FILES, described('quiet')]);
    expect(resources.main.metadataUrl).toBe(PUBLISHED.metadataUrl);
    const [files, quiet] = ['files', 'quiet'].map((name) => resources.of(`${ISSUER}/${name}`));
    expect([files?.metadataUrl, files?.needs()]).toEqual([FILES.metadataUrl, { stepUp: true }]);
    expect([quiet?.metadataUrl, quiet?.needs()]).toEqual([null, { stepUp: false }]);
  });

  test('are published each at its path', () => {
    const path = (name: string) => `/.well-known/oauth-protected-resource/${name}`;
    const resources = start([MCP, FILES, BARE]);
    expect(resources.published()).toEqual([
      [path('mcp'), resources.main],
      [path('files'), resources.of(FILES.resource)],
    ]);
    const main = start([FILES], null);
    expect(main.published().map(([at]) => at)).toEqual([path('mcp'), path('files')]);
  });
});
