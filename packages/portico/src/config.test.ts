import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { coreShape, SCOPE_KEYS } from './config.ts';

const SECTION = z.strictObject(coreShape);
const VALID = { name: 'App', scopes: { 'notes:read': 'Read your notes' } };

/** Returns the problems of a section with these settings, each as its key and its message. */
function problemsOf(changes: object): readonly string[] {
  const { error } = SECTION.safeParse({ ...VALID, ...changes });
  return (error?.issues ?? []).map(({ path, code, message, ...issue }) => {
    const [inner] = code === 'invalid_key' ? (issue as z.core.$ZodIssueInvalidKey).issues : [];
    return `${path.join(':')} ${inner?.message ?? message}`;
  });
}

/** Returns the problems of one scope with this definition. */
function scopeProblems(definition: unknown): readonly string[] {
  const { error } = SECTION.safeParse({ ...VALID, scopes: { own: definition } });
  const all = (issues: readonly z.core.$ZodIssue[]): readonly string[] =>
    issues.flatMap((issue) =>
      issue.code === 'invalid_union' && issue.errors.length > 0
        ? [issue.message, ...issue.errors.flatMap(all)]
        : [`${issue.path.join(':')} ${issue.message}`],
    );
  return all(error?.issues ?? []);
}

const NAME = 'set the name that people know your application by';
const SCOPES = "map each scope to a label, for example { 'notes:read': 'Read your notes' }";
const CENTURY = 3_155_760_000;

test('the section has these defaults', () => {
  expect(SECTION.parse(VALID)).toEqual({
    ...VALID,
    audience: '',
    login_route: 'login',
    routes: true,
    key_path: 'storage/oauth/keys',
    access_token_ttl: 3600,
    refresh_token_ttl: 2_592_000,
    id_token_ttl: 3600,
    code_ttl: 60,
    consent_ttl: 600,
  });
  expect(SCOPE_KEYS).toEqual(['label', 'description', 'permission', 'claims']);
});

test.each<[object, string]>([
  [{ name: undefined }, `name is missing; ${NAME}`],
  [{ name: null }, `name must be a display name; ${NAME}`],
  [{ name: ' \n' }, `name is empty; ${NAME}`],
  [{ name: '' }, `name is empty; ${NAME}`],
  [{ scopes: undefined }, `scopes is missing; ${SCOPES}`],
  [{ scopes: [] }, `scopes must be an object with scope names as keys; ${SCOPES}`],
  [{ scopes: { 'a b': 'A' } }, 'scopes:a b is not a scope name (RFC 6749 section 3.3)'],
  ...['openid', 'profile', 'email', 'offline_access'].map((name): [object, string] => [
    { scopes: { [name]: 'A' } },
    `scopes:${name} is built in and needs no configuration; remove it`,
  ]),
  [{ audience: 1 }, 'audience must be the URL of the API that tokens are for, or empty'],
  ...['api', 'urn:api', 'https://', 'https://a.example#', ' ', 'xhttps://a.example'].map(
    (audience): [object, string] => [
      { audience },
      'audience must be an absolute URL without a fragment',
    ],
  ),
  [
    { login_route: 1 },
    'login_route must be a route name or a path; name the route of your sign-in page',
  ],
  [{ routes: 1 }, 'routes must be true or false'],
  [{ claims: {} }, 'claims must be a function that takes a user and returns an object of claims'],
  [{ key_path: ' ' }, 'key_path is empty; name the directory of the signing keys'],
  [{ code_ttl: 0 }, 'code_ttl must be at least 1 second'],
  [{ code_ttl: 1.5 }, 'code_ttl must be a whole number of seconds'],
  [{ code_ttl: CENTURY + 1 }, `code_ttl must be at most ${CENTURY} seconds (100 years)`],
  [{ languages: [] }, 'languages must contain at least one language; for English only, use false'],
  [
    { languages: 'de' },
    "languages must be true, false or a list of languages such as ['en', 'de']",
  ],
  [
    { languages: null },
    "languages must be true, false or a list of languages such as ['en', 'de']",
  ],
  [
    { languages: ['de', 'x'] },
    'languages:1 must be a language tag (BCP 47), for example de or pt-BR',
  ],
  [
    { languages: [1, 'de', 2] },
    'languages 0: Invalid input: expected string, received number; ' +
      '2: Invalid input: expected string, received number',
  ],
])('%j is refused with the message %j', (changes, problem) => {
  expect(problemsOf(changes)).toEqual([problem]);
});

test.each<object>([
  { audience: '' },
  { audience: 'https://a.example/api' },
  { audience: 'HTTP://a.example' },
  { claims: () => ({}) },
  { code_ttl: 1, consent_ttl: CENTURY },
  { languages: true },
  { languages: ['en', 'pt-BR'] },
  { scopes: {} },
])('%j is accepted', (changes) => {
  expect(problemsOf(changes)).toEqual([]);
});

describe('the definition of a scope', () => {
  const LABEL = 'describe what it allows, for the person on the consent screen';
  const WRONG = 'must be a label (a string), or an object { label, permission }';

  test.each<unknown>([
    'Read your notes',
    { label: 'Read' },
    { label: 'Read', description: 'More', permission: 'read', claims: ['roles', 'tenant_id'] },
  ])('can be %j', (definition) => {
    expect(scopeProblems(definition)).toEqual([]);
  });

  test.each<[unknown, string]>([
    [1, WRONG],
    ['', `scopes:own is empty; ${LABEL}`],
    [{}, `label is missing; ${LABEL}`],
    [{ label: 'A', description: '' }, 'description is empty; explain what it allows, or omit it'],
    [{ label: 'A', description: 1 }, 'description must be a string; explain what it allows'],
    [
      { label: 'A', permission: 1 },
      'permission must be a permission; set it to the permission that a person must have',
    ],
    [
      { label: 'A', claims: 'roles' },
      "claims must be a list of claims, for example ['roles', 'tenant_id']",
    ],
    [{ label: 'A', claims: ['roles', 1] }, 'claims:1 must be the name of a claim'],
    [{ label: 'A', claims: ['a b'] }, 'claims:0 is not a claim name'],
    [{ label: 'A', claims: ['sub', 'iss'] }, 'claims:1 is a protocol claim'],
  ])('cannot be %j', (definition, problem) => {
    expect(scopeProblems(definition).join('\n')).toContain(problem);
  });
});
