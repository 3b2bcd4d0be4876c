import { describe, expect, test } from 'vitest';
import { resourcesShape } from './config.ts';
import { describeResources, resourceProblems } from './resources.ts';

const PORTAL = 'https://portal.example';
const KEY = 'oauth_server:resources';
const NOTES = { scopes: ['notes:read'], challenge: false };

describe('the settings of a resource', () => {
  const problemsOf = (resources: unknown) =>
    (resourcesShape.resources.safeParse(resources).error?.issues ?? []).map(
      ({ path, message }) => `${path.slice(1).join(':')}: ${message}`,
    );

  test.each(['https://a.example', 'http://a.example/x', 'HTTPS://a.example/x:y'])(
    'can have the URL %s',
    (url) => expect(problemsOf({ [url]: NOTES })).toEqual([]),
  );

  test.each([
    'a.example',
    'ftp://a.example',
    'xhttps://a.example',
    'https://a.example/x?y',
    'https://a.example/x#y',
    'https://a.example/x y',
    'https://',
    'https://[',
    'https://ada@a.example',
    'https://:secret@a.example',
  ])('cannot have the URL %s', (url) =>
    expect(resourcesShape.resources.safeParse({ [url]: NOTES }).success).toBe(false),
  );

  test.each([
    [{}, 'scopes: is missing; list the scopes that clients can request for this API'],
    [{ scopes: 'notes:read' }, 'scopes: must be a list of scope names'],
    [{ scopes: [] }, 'scopes: must contain at least one scope'],
    [{ scopes: [5] }, 'scopes:0: must be a scope name'],
    [{ ...NOTES, label: '' }, /^label: .*set it to the name of the API/],
    ['notes:read', ': must be an object { scopes, label, challenge }'],
  ])('cannot be %j', (settings, problem) => {
    expect(problemsOf({ 'https://a.example': settings })).toEqual([
      expect.stringMatching(problem) as string,
    ]);
  });

  test('do not include challenges by default', () => {
    const parsed = resourcesShape.resources.parse({ 'https://a.example': { scopes: ['a'] } });
    expect(parsed?.['https://a.example']?.challenge).toBe(false);
  });
});

test('only a resource on the same origin has metadata', () => {
  const configured = {
    [`${PORTAL}/api`]: { scopes: ['notes:read'], label: 'Notes', challenge: true },
    'https://other.example/api': NOTES,
  };
  expect(describeResources(configured, `${PORTAL}/below`)).toEqual([
    {
      resource: `${PORTAL}/api`,
      scopes: ['notes:read'],
      label: 'Notes',
      metadataUrl: `${PORTAL}/.well-known/oauth-protected-resource/api`,
      challenge: true,
    },
    {
      resource: 'https://other.example/api',
      scopes: ['notes:read'],
      label: null,
      metadataUrl: null,
      challenge: false,
    },
  ]);
});

describe('a resource conflicts with other settings', () => {
  const problemsOf = (
    resources: Parameters<typeof describeResources>[0] | undefined,
    audience = '',
  ) => {
    const scopes = { 'notes:read': 'Read your notes' };
    return resourceProblems({ resources, audience, scopes }, `${PORTAL}/below`);
  };

  test.each(['https://a.example', 'https://a.example/', 'https://a.example/x/'])(
    'never if it is %s',
    (url) => {
      expect(problemsOf({ [url]: NOTES })).toEqual([]);
      expect(problemsOf({ [url]: NOTES }, url)).toEqual([]);
    },
  );

  test('never if another one is longer by a letter', () => {
    const [one, other] = ['https://a.example/x', 'https://a.example/xy'];
    expect(problemsOf({ [one]: NOTES, [other]: NOTES })).toEqual([]);
  });

  test('never if there are no resources', () => expect(problemsOf(undefined, PORTAL)).toEqual([]));

  test.each([
    ['https://A.example', 'must be written as https://a.example'],
    ['https://a.example:443', 'must be written as https://a.example'],
    ['https://a.example:443/x', 'must be written as https://a.example/x'],
    ['https://a.example/b/../x', 'must be written as https://a.example/x'],
    ['https://a.example/:x', 'must not contain : or * in its path'],
    ['https://a.example/*', 'must not contain : or * in its path'],
  ])('if its URL is spelled %s', (url, message) => {
    expect(problemsOf({ [url]: NOTES })).toEqual([{ key: `${KEY}:${url}`, message }]);
  });

  test('if another one differs only by the slash at the end', () => {
    const [one, other] = ['https://a.example/x', 'https://a.example/x/'];
    expect(problemsOf({ [one]: NOTES, [other]: NOTES })).toEqual([
      {
        key: `${KEY}:${other}`,
        message:
          'differs from another configured URL only by the slash at the end; remove one of the ' +
          'two URLs',
      },
    ]);
  });

  test.each([
    ['openid', 'contains openid, which every resource already has; remove it'],
    ['gone', 'contains gone, which is not in oauth_server:scopes; add it there'],
  ])('if it has the scope %s', (scope, message) => {
    const url = 'https://a.example/x';
    expect(problemsOf({ [url]: { ...NOTES, scopes: ['notes:read', scope] } })).toEqual([
      { key: `${KEY}:${url}:scopes`, message },
    ]);
  });

  test('if it has challenges, but a different origin', () => {
    const url = 'https://a.example/x';
    expect(problemsOf({ [`${PORTAL}/api`]: { ...NOTES, challenge: true } })).toEqual([]);
    expect(problemsOf({ [url]: { ...NOTES, challenge: true } })).toEqual([
      {
        key: `${KEY}:${url}:challenge`,
        message:
          `cannot publish the metadata of ${url}, which is not on ${PORTAL}; set challenge to ` +
          'false, and use @portico/resource-server in that API',
      },
    ]);
  });

  test('if the audience is not a resource', () => {
    const [one, other] = ['https://a.example/x', 'https://b.example/x'];
    expect(problemsOf({ [one]: NOTES, [other]: NOTES }, PORTAL)).toEqual([
      {
        key: 'oauth_server:audience',
        message: expect.stringContaining(
          `is ${PORTAL}, which is not in ${KEY} (${one}, ${other}); add it there`,
        ) as string,
      },
    ]);
  });
});
