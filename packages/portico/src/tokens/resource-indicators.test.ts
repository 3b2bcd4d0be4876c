import { describe, expect, test } from 'vitest';
import {
  getMetadataUrl,
  otherResource,
  quotedAudience,
  requireAudience,
  Resources,
  type ResourceDescription,
} from './resource-indicators.ts';
import { createScopeCatalog } from './scopes.ts';

const API = 'https://api.example/v1';

test('a grant is only for the configured audience, which a request may name', () => {
  expect(requireAudience(undefined, API)).toBe(API);
  expect(requireAudience(API, API)).toBe(API);
  expect(requireAudience(undefined, null)).toBe(null);
  const refusal = {
    code: 'invalid_target',
    message: 'The resource is not one that this server issues tokens for.',
  };
  for (const [named, configured, detail] of [
    [`${API}/`, API, `the requested resource is "${API}/", but oauth_server:audience is "${API}"`],
    ['', API, `the requested resource is "", but oauth_server:audience is "${API}"`],
    [API, null, `the requested resource is "${API}", but oauth_server:audience is none`],
  ] as const) {
    const required = () => requireAudience(named, configured);
    expect(required).toThrow(expect.objectContaining({ ...refusal, detail }) as Error);
  }
});

test('a resource other than the audience is logged without credentials and query', () => {
  expect(otherResource(undefined, API)).toBe(null);
  expect(otherResource(undefined, null)).toBe(null);
  expect(otherResource(API, API)).toBe(null);
  expect(otherResource('https://a:b@api.example/?token=1', API)).toBe('"https://…@api.example/?…"');
  expect(quotedAudience(null)).toBe('none');
  expect(quotedAudience(`${API}?key=1`)).toBe(`"${API}?…"`);
});

const ISSUER = 'https://portal.example';

test.each([
  [ISSUER, `${ISSUER}/.well-known/oauth-protected-resource`],
  [`${ISSUER}/`, `${ISSUER}/.well-known/oauth-protected-resource`],
  [`${ISSUER}/mcp`, `${ISSUER}/.well-known/oauth-protected-resource/mcp`],
  [`${ISSUER}/a/b/?c=d`, `${ISSUER}/.well-known/oauth-protected-resource/a/b/?c=d`],
  [`${ISSUER}?c=d`, `${ISSUER}/.well-known/oauth-protected-resource?c=d`],
])('the metadata URL of %s is %s', (audience, url) => {
  expect(getMetadataUrl(audience)).toBe(url);
});

const catalog = createScopeCatalog({ 'notes:read': 'Read', 'files:read': 'Read files' });
const IDENTITY = ['openid', 'profile', 'email'];
const FILES = 'https://files.example';
const NOTES = 'https://notes.example';
const OTHER = 'https://other.example';
const refused = (detail: string) =>
  expect.objectContaining({ code: 'invalid_target', detail }) as Error;

const described = (resource: string, ...scopes: readonly string[]): ResourceDescription => ({
  resource,
  scopes,
  label: null,
  metadataUrl: null,
  challenge: false,
});

describe('a server with one audience', () => {
  const start = () => new Resources(API, catalog, []);

  test('issues tokens with all scopes for it, and for nothing else', () => {
    const one = start();
    expect([...one.scopesOf(API).keys()]).toEqual([...catalog.keys()]);
    expect(one.find(API)).toBeNull();
    expect([one.named(undefined), one.named(API), one.named(OTHER)]).toEqual([
      { audience: API },
      { audience: API },
      null,
    ]);
    expect([one.require(undefined), one.require(API)]).toEqual([API, API]);
    expect(() => one.require(OTHER)).toThrow(
      refused(`the requested resource is "${OTHER}", but oauth_server:audience is "${API}"`),
    );
  });

  test('accepts no grant and no token of an earlier audience', () => {
    const one = start();
    expect([one.grantRefusal(API), one.tokenRefusal(API)]).toEqual([null, null]);
    expect(one.grantRefusal(null)).toBe(
      `the grant is for none, but oauth_server:audience is "${API}"`,
    );
    const says = `the token was granted for "${OTHER}", but oauth_server:audience is "${API}"`;
    expect(one.tokenRefusal(OTHER)).toBe(says);
    for (const here of [API, OTHER]) {
      expect(one.tokenRefusalAt(here, API)).toBeNull();
      expect(one.tokenRefusalAt(here, OTHER)).toBe(says);
    }
  });

  test('may have none', () => {
    const none = new Resources(null, catalog, []);
    expect([none.named(undefined), none.require(undefined)]).toEqual([{ audience: null }, null]);
    expect(none.grantRefusal(null)).toBeNull();
    expect(none.tokenRefusal(API)).toBe(
      `the token was granted for "${API}", but oauth_server:audience is none`,
    );
  });
});

describe('a server with several resources', () => {
  const all = [described(NOTES, 'notes:read'), described(FILES, 'files:read')];
  const start = () => new Resources(API, catalog, all);

  test('issues tokens with the scopes of each resource only for it', () => {
    const several = start();
    const scopesOf = (audience: string | null) => [...several.scopesOf(audience).keys()];
    expect(several.all).toBe(all);
    expect([NOTES, FILES, API, OTHER, null].map(scopesOf)).toEqual([
      [...IDENTITY, 'notes:read'],
      [...IDENTITY, 'files:read'],
      IDENTITY,
      [],
      [],
    ]);
    expect([several.find(FILES), several.find(API), several.find(null)]).toEqual([
      all[1],
      null,
      null,
    ]);
  });

  test('issues tokens only for these resources and for its audience', () => {
    const several = start();
    expect([undefined, API, NOTES].map((named) => several.require(named))).toEqual([
      API,
      API,
      NOTES,
    ]);
    expect(several.named(OTHER)).toBeNull();
    expect(() => several.require(OTHER)).toThrow(
      refused(`the requested resource is "${OTHER}", which is not in oauth_server:resources`),
    );
    const without = new Resources(null, catalog, all);
    expect(without.require(undefined)).toBeNull();
    expect(() => without.require(API)).toThrow(
      refused(`the requested resource is "${API}", which is not in oauth_server:resources`),
    );
  });

  test('accepts grants and tokens for each of them, but a token only at its own resource', () => {
    const several = start();
    for (const audience of [API, NOTES, FILES]) {
      expect([several.grantRefusal(audience), several.tokenRefusal(audience)]).toEqual([
        null,
        null,
      ]);
      expect(several.tokenRefusalAt(audience, audience)).toBeNull();
    }
    expect(several.grantRefusal(OTHER)).toBe(
      `the grant is for "${OTHER}", which is not in oauth_server:resources`,
    );
    const says = `the token was granted for "${OTHER}", which is not in oauth_server:resources`;
    expect([several.tokenRefusal(OTHER), several.tokenRefusalAt(OTHER, OTHER)]).toEqual([
      says,
      says,
    ]);
    expect(several.tokenRefusalAt(NOTES, FILES)).toBe(
      `the token was granted for "${FILES}", but was used at "${NOTES}"`,
    );
    expect(several.tokenRefusalAt(NOTES, null)).toBe(
      `the token was granted for none, but was used at "${NOTES}"`,
    );
  });
});
