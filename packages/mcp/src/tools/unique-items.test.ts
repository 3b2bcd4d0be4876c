import { describe, expect, test } from 'vitest';
import { schemaCheck } from './json-schema.ts';
import { replaceUniqueItems, UNIQUE } from './unique-items.ts';

const unique = { type: 'array', uniqueItems: true };

describe('uniqueItems', () => {
  test.each([
    [['a', 'a'], 0, 1],
    [[1, 1], 0, 1],
    [[1, 1, 2], 0, 1],
    [[null, true, null], 0, 2],
    [['a', 'a', 'b', 'b', 'a'], 1, 4],
    [['a', 'b', 'b', 'a'], 0, 3],
    [[{ a: 1, b: [2] }, 3, { b: [2], a: 1 }], 0, 2],
    [
      [
        [1, 2],
        [1, 2],
      ],
      0,
      1,
    ],
    [[{}, {}], 0, 1],
    [[[], []], 0, 1],
    [[0, -0], 0, 1],
    [[{ a: { c: 'x', b: 'y' } }, { a: { b: 'y', c: 'x' } }], 0, 1],
  ])('names the last two equal items of %j', (items, first, second) => {
    expect(schemaCheck(unique)(items)).toBe(
      `data must NOT have duplicate items (items ## ${first} and ${second} are identical)`,
    );
  });

  test.each([
    [[]],
    [['a']],
    [[1, '1', true, 'true', null, 'null', [1], { 1: 1 }, ['1']]],
    [[[], {}, '[]', '{}', '']],
    [[[1, 2], [2, 1], [12], ['1,2'], [[1], 2], [1, [2]]]],
    [[{ a: 1 }, { a: 2 }, { b: 1 }, { a: 1, b: 1 }, { a: '1' }, { 'a":1,"b': 1 }]],
    [['"', '\\', '"a"', 'a']],
    [JSON.parse('[1e999, null, -1e999, "Infinity"]') as unknown[]],
    [[{ a: [{ b: 1 }, { c: 1 }] }, { a: [{ c: 1 }, { b: 1 }] }]],
  ])('accepts %j', (items) => {
    expect(schemaCheck(unique)(items)).toBe(null);
  });

  test('ignores what is no list', () => {
    expect(schemaCheck({ uniqueItems: true })('aa')).toBe(null);
    expect(schemaCheck({ uniqueItems: true })({ 0: 'a', 1: 'a', length: 2 })).toBe(null);
  });

  test('may be false', () => {
    expect(schemaCheck({ ...unique, uniqueItems: false })([{}, {}])).toBe(null);
  });

  test('reads each value again in the next check', () => {
    const check = schemaCheck(unique);
    const [one, other] = [{ a: 1 }, { a: 2 }];
    expect(check([one, other])).toBe(null);
    other.a = 1;
    expect(check([one, other])).toContain('items ## 0 and 1');
    other.a = 3;
    expect(check([one, other])).toBe(null);
  });

  test('compares members that hide what objects inherit', () => {
    expect(schemaCheck(unique)([{ valueOf: 1 }, { valueOf: 1 }])).toContain('## 0 and 1');
  });
});

describe('the check of Ajv', () => {
  const simple: readonly object[] = [
    { uniqueItems: true, items: { type: 'string' } },
    { uniqueItems: true, items: { type: ['string', 'null', 'number', 'integer', 'boolean'] } },
    { items: {} },
    {},
    { uniqueItems: false },
    { uniqueItems: 'true' },
  ];
  test.each(simple)('stays in %j', (schema) => {
    expect(replaceUniqueItems({ ...schema })).toEqual(schema);
  });

  const others: readonly object[] = [
    {},
    { minItems: 1 },
    { items: true },
    { items: null },
    { items: {} },
    { items: { type: 'object' } },
    { items: { type: [] } },
    { items: { type: ['string', 'array'] } },
    { items: { enum: ['a'] } },
    { items: { type: 'string' }, prefixItems: [{}] },
    { items: [{ type: 'string' }] },
  ];
  test.each(others)('is replaced in %j', (schema) => {
    const replaced = replaceUniqueItems({ ...schema, uniqueItems: true });
    expect(replaced).toEqual({ ...schema, [UNIQUE]: true });
  });
});
