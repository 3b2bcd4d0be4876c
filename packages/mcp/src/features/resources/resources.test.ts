import { describe, expect, test } from 'vitest';
import { ResourceRegistry } from './resources.ts';

const GOOD = { uri: () => 'app://guide', name: () => 'Guide', read: () => '' };

/** Registers a resource that differs from a good one in these members. */
function registered(members: object) {
  const resources = new ResourceRegistry();
  resources.register({ ...GOOD, ...members });
  return resources.all()[0];
}

describe('a resource', () => {
  test('is read as it describes itself', () => {
    expect(registered({})).toMatchObject({
      uri: 'app://guide',
      name: 'Guide',
      description: null,
      title: null,
      mimeType: null,
      personal: false,
      scope: null,
    });
    const described = {
      description: () => 'A guide.',
      title: () => 'The guide',
      mimeType: () => 'text/markdown; charset=utf-8',
      scope: () => 'guides',
    };
    expect(registered(described)).toMatchObject({
      description: 'A guide.',
      title: 'The guide',
      mimeType: 'text/markdown; charset=utf-8',
      personal: true,
      scope: 'guides',
    });
  });

  test.each(['urn:a', 'A+b.-1:x', 'app://a/b?c=d#e', `app:${'x'.repeat(2044)}`, 'ui://%20[1]'])(
    'can have the URI %j',
    (uri) => {
      expect(registered({ uri: () => uri })?.uri).toBe(uri);
    },
  );

  test.each([
    '',
    'guide',
    ':a',
    '1a:b',
    'app:',
    'app:a b',
    `app:${'x'.repeat(2045)}`,
    ' a:b',
    7,
    ['a:b'],
  ])('cannot have the URI %j', (uri) => {
    expect(() => registered({ uri: () => uri })).toThrow(
      `The uri() of a resource must return an absolute URI, not ${JSON.stringify(uri)}`,
    );
  });

  test.each(['text', '/plain', 'text/', 'a b/c', 'text/plain;', `${'x'.repeat(128)}/x`, 'text/x '])(
    'cannot have the media type %j',
    (type) => {
      expect(() => registered({ mimeType: () => type })).toThrow(
        'The mimeType() of the resource app://guide must return a media type',
      );
    },
  );

  test.each(['name', 'title', 'description', 'mimeType'])('must have text as its %s', (member) => {
    for (const wrong of ['', 7, null])
      expect(() => registered({ [member]: () => wrong })).toThrow(
        `The ${member}() of the resource app://guide must return a string that is not empty`,
      );
  });

  test.each([
    [{ name: undefined }, 'The resource app://guide has no name()'],
    [{ scope: 'guides' }, 'The scope of the resource app://guide must be a method that returns'],
    [{ scope: undefined }, 'The scope of the resource app://guide must be a method that returns'],
    [{ personal: 'yes' }, 'The resource app://guide must have personal: true'],
  ])('must be described well: %#', (members, problem) => {
    expect(() => registered(members)).toThrow(problem);
  });
});

test('the registry has each resource once, in the order of registration', () => {
  const resources = new ResourceRegistry();
  expect([resources.all(), resources.find('b:b')]).toEqual([[], null]);
  for (const uri of ['b:b', 'a:a']) resources.register({ ...GOOD, uri: () => uri });
  expect(resources.all().map(({ uri }) => uri)).toEqual(['b:b', 'a:a']);
  expect(() => resources.register({ ...GOOD, uri: () => 'b:b' })).toThrow(
    'Two resources have the URI b:b',
  );
  expect([resources.find('a:a')?.uri, resources.find('A:A')]).toEqual(['a:a', null]);
});
