import { describe, expect, test } from 'vitest';
import { acceptsByName, readMediaType } from './media-types.ts';

describe('a media type', () => {
  test.each([
    ['application/json', 'application/json'],
    ['  Application/JSON ; charset=utf-8', 'application/json'],
    ['application/jsonx', 'application/jsonx'],
    ['', ''],
    [null, ''],
    [undefined, ''],
  ])('in the header %j is %j', (field, type) => {
    expect(readMediaType(field)).toBe(type);
  });

  test.each([
    ['application/json', true],
    ['text/html, Application/JSON;q=0.1', true],
    ['application/json;version="1,2";q=1', true],
    ['application/json;q=0.001', true],
    ['*/*', false],
    ['application/*', false],
    ['application/jsonx', false],
    ['text/html;a=" , application/json , "', false],
    ['text/html;a="\\", application/json"', false],
    ['text/html;a="\\", application/json, "', false],
    ['text/html;a="b", application/json', true],
    ['text/html\\, application/json', true],
    ['application/json;q=0', false],
    ['application/json ; Q=0.000', false],
    ['application/json text/html', false],
    ['', false],
    [null, false],
  ])('is accepted by name in %j: %s', (accept, accepted) => {
    expect(acceptsByName(accept, 'application/json')).toBe(accepted);
  });

  test('is read from a long header in linear time', () => {
    const long = `${'"'.repeat(100_000)}, application/json`;
    expect(acceptsByName(long, 'application/json')).toBe(true);
    expect(acceptsByName(`"${'\\"'.repeat(100_000)}`, 'application/json')).toBe(false);
  });
});
