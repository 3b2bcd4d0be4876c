import { expect, test } from 'vitest';
import {
  getMetadataUrl,
  otherResource,
  quotedAudience,
  requireAudience,
} from './resource-indicators.ts';

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
