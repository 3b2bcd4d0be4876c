import { describe, expect, test } from 'vitest';
import { challengeProblems } from './resource-metadata.ts';

const ISSUER = 'https://portal.example';

describe('challenges', () => {
  const key = 'oauth_server:challenge';

  test.each([
    ['', 'needs oauth_server:audience; set oauth_server:audience to the URL of your API'],
    [
      'https://api.example/mcp',
      'cannot publish the metadata of https://api.example/mcp, because that API is not on https://portal.example; use @portico/resource-server in that API',
    ],
    [
      'http://portal.example/mcp',
      'cannot publish the metadata of http://portal.example/mcp, because that API is not on https://portal.example; use @portico/resource-server in that API',
    ],
  ])('cannot be enabled for the resource %j', (audience, message) => {
    expect(challengeProblems({ challenge: true, audience }, `${ISSUER}/below`)).toEqual([
      { key, message },
    ]);
    expect(challengeProblems({ challenge: false, audience }, ISSUER)).toEqual([]);
    expect(challengeProblems({ audience }, ISSUER)).toEqual([]);
  });

  test('can be enabled for a resource on the same server', () => {
    expect(
      challengeProblems({ challenge: true, audience: `${ISSUER}/mcp` }, `${ISSUER}/below`),
    ).toEqual([]);
  });
});
