import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { schemaCheck } from './json-schema.ts';

const check = (schema: object, value: unknown) => schemaCheck({ ...schema }, 'wrong')(value);

describe('a schema', () => {
  test('is refused if it uses $async', () => {
    expect(() => schemaCheck({ $async: true })).toThrow('$async is not a JSON Schema keyword');
  });

  test.each([
    ['a date', { default: new Date(0) }],
    ['a date in a list', { enum: [1, new Date(0)] }],
    ['a function', { default: () => 1 }],
    ['an object of a class', { properties: new URLSearchParams() }],
  ])('is refused if it contains %s', (_, schema) => {
    expect(() => schemaCheck(schema)).toThrow('return z.toJSONSchema(schema)');
  });

  test('may be an object without a prototype, or from another realm', () => {
    const bare = Object.assign(Object.create(null) as object, { type: 'string' });
    const other = runInContext(
      '({ type: "string", enum: [null, "a"] })',
      createContext(),
    ) as object;
    for (const schema of [{ items: bare }, { items: other }])
      expect([check(schema, ['a']), check(schema, [1])]).toEqual([
        null,
        expect.stringMatching('data/0 must be string'),
      ]);
  });

  test('is refused if it is invalid', () => {
    expect(() => schemaCheck({ type: 'nope' })).toThrow('nope');
    for (const properties of [null, true, 'ab', 1])
      expect(() => schemaCheck({ properties })).toThrow('properties');
    for (const multipleOf of ['2', null])
      expect(() => schemaCheck({ multipleOf })).toThrow('multipleOf');
  });

  test('is refused if the work of its validator cannot be limited', () => {
    const { prototype } = AjvJsonSchemaValidator;
    const choose: unknown = Reflect.get(prototype, '_engineFor');
    Reflect.set(prototype, '_engineFor', undefined);
    try {
      expect(() => schemaCheck({})).toThrow('cannot limit the work of a schema');
    } finally {
      Reflect.set(prototype, '_engineFor', choose);
    }
  });

  test('may be of draft-07', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', multipleOf: 0.01 };
    expect([check(schema, 19.99), check(schema, 19.999)]).toEqual([
      null,
      'data must be multiple of 0.01',
    ]);
  });

  test('may have the same $id as another one', () => {
    const one = schemaCheck({ $id: 'https://schemas.example/one', type: 'string' });
    const other = schemaCheck({ $id: 'https://schemas.example/one', type: 'number' });
    expect([one('a'), other(1), one(1), other('a')]).toEqual([
      null,
      null,
      'data must be string',
      'data must be number',
    ]);
  });

  test('that nothing matches refuses without a list of problems', () => {
    expect(schemaCheck({ not: {} })(1)).toBe('data must NOT be valid');
    expect(schemaCheck({ $dynamicRef: '#none' })(1)).toBe('It does not match the schema.');
  });
});

describe('the problems of a value', () => {
  const required = { type: 'object', required: ['z', 'y'] };
  const both = "data must have required property 'z', data must have required property 'y'";

  test.each([
    ['few members', { a: 1 }],
    ['four levels', { a: { b: { c: { d: null } } } }],
    ['four levels of lists', { a: [[[1]]] }],
    ['a hundred values', { a: Array.from({ length: 98 }, () => 1) }],
  ])('are all told of a value with %s', (_, value) => {
    const all = schemaCheck(required);
    expect([all(value), all(value)]).toEqual([both, both]);
  });

  test.each([
    ['five levels', { a: { b: { c: { d: {} } } } }],
    ['five levels of lists', { a: [1, [2, [[]]]] }],
    ['101 values', { a: Array.from({ length: 99 }, () => 1) }],
  ])('are reduced to the first one for a value with %s', (_, value) => {
    expect(schemaCheck(required)(value)).toBe("data must have required property 'z'");
  });

  test('have at most 10,000 characters', () => {
    const named = (length: number) => {
      const rest = "data must have required property ''".length;
      return check({ required: ['x'.repeat(length - rest)] }, {});
    };
    expect(named(10_000)).toHaveLength(10_000);
    expect(named(10_001)).toBe('wrong');
  });
});

describe('a keyword', () => {
  test.each(['nullable', 'formatMinimum', 'formatMaximum', 'id'])(
    'of Ajv alone has no effect: %s',
    (keyword) => {
      const schema = { type: 'string', [keyword]: true };
      expect([check(schema, 'a'), check(schema, null)]).toEqual([null, 'data must be string']);
    },
  );

  test.each(['formatExclusiveMinimum', 'formatExclusiveMaximum'])(
    'of Ajv alone has no effect: %s',
    (keyword) => {
      expect(check({ type: 'string', format: 'date', [keyword]: '2026-01-01' }, '2026-01-01')).toBe(
        null,
      );
    },
  );

  test.each([
    { const: { nullable: true, uniqueItems: true } },
    { enum: [{ nullable: true, uniqueItems: true }] },
    { anyOf: [{ const: 1 }, { const: { nullable: true, uniqueItems: true } }] },
  ])('in a value is part of the value: %j', (schema) => {
    expect(check(schema, { nullable: true, uniqueItems: true })).toBe(null);
    expect(check(schema, { nullable: false, uniqueItems: true })).not.toBe(null);
    expect(check(schema, {})).not.toBe(null);
  });

  test('in a default value is part of the value', () => {
    const schema = { default: { $ref: 1, nullable: { type: 1 } }, examples: [{ $ref: 1 }] };
    expect(check(schema, 1)).toBe(null);
  });

  test.each([
    [{ properties: { nullable: { type: 'string' } } }, 'data/nullable must be string'],
    [{ patternProperties: { nullable: { type: 'string' } } }, 'data/nullable must be string'],
    [{ dependentSchemas: { nullable: { required: ['b'] } } }, "must have required property 'b'"],
    [{ dependentRequired: { nullable: ['b'] } }, 'must have property b'],
    [{ dependencies: { nullable: ['b'] } }, 'must have property b'],
    [{ $defs: { nullable: { maxProperties: 0 } }, $ref: '#/$defs/nullable' }, 'more than 0'],
    [{ definitions: { nullable: { maxProperties: 0 } }, $ref: '#/definitions/nullable' }, 'more'],
  ])('may be the name of a member: %j', (schema, problem) => {
    expect(check(schema, { nullable: 1 })).toContain(problem);
  });

  test('is checked at every depth', () => {
    const schema = { items: { anyOf: [{ properties: { a: { items: { multipleOf: 0.01 } } } }] } };
    expect(check(schema, [{ a: [19.99] }])).toBe(null);
    expect(check(schema, [{ a: [19.999] }])).toContain('must be multiple of 0.01');
  });

  test.each([
    [0.01, 19.99, true],
    [0.01, 19.999, false],
    [0.01, -19.99, true],
    [0.01, 0, true],
    [12, 24, true],
    [12, 25, false],
    [0.1, 0.3, true],
    [0.1, 0.30000000000001, false],
    [3, 1_234_567_890_123_457, false],
    [1, 9_007_199_254_740_991, true],
    [0.5, 1e300, true],
  ])('multipleOf %d is exact for %d: %s', (multipleOf, value, isValid) => {
    const problem = check({ multipleOf }, value);
    expect(problem).toBe(isValid ? null : `data must be multiple of ${multipleOf}`);
    expect(check({ multipleOf }, 'text')).toBe(null);
  });

  test('required looks only at the members that an object has itself', () => {
    expect(check({ required: ['toString'] }, {})).toContain("required property 'toString'");
    expect(check({ properties: { constructor: { type: 'string' } } }, {})).toBe(null);
  });

  test('format accepts a URL of 2048 characters', () => {
    const url = (length: number) => 'https://shop.example/'.padEnd(length, 'x');
    const schema = { format: 'url' };
    expect([check(schema, url(2048)), check(schema, 'https://shop.example')]).toEqual([null, null]);
    for (const wrong of [url(2049), 'shop', ''])
      expect(check(schema, wrong)).toBe('data must match format "url"');
  });
});

describe('a reference', () => {
  const list = { $defs: { text: { type: 'string' } }, items: { $ref: '#/$defs/text' } };

  test('may be followed 200,000 times in one check', () => {
    const checkList = schemaCheck(list, 'wrong');
    const texts = Array.from({ length: 200_000 }, () => '');
    expect(checkList(texts)).toBe(null);
    expect(checkList([...texts, ''])).toBe('wrong');
    expect(checkList(texts)).toBe(null);
  });

  const dynamic = [
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $dynamicAnchor: 'a',
      items: { $dynamicRef: '#a' },
    },
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      items: { $recursiveRef: '#' },
    },
  ] as const;

  test.each(dynamic)('that is dynamic is counted too: %j', (schema) => {
    const checkList = schemaCheck({ ...schema, maxLength: 1 }, 'wrong');
    expect(checkList(Array.from({ length: 200_000 }, () => 'a'))).toBe(null);
    expect(checkList(Array.from({ length: 200_001 }, () => 'a'))).toBe('wrong');
    expect(checkList(['ab'])).toBe('data/0 must NOT have more than 1 characters');
    expect(checkList([[['ab']]])).toBe('data/0/0/0 must NOT have more than 1 characters');
  });

  test.each([
    { const: 1 },
    { enum: [1] },
    { not: { type: 'string' } },
    { anyOf: [{ type: 'number' }] },
    { oneOf: [{ type: 'number' }] },
    { allOf: [{ type: 'number' }] },
    { if: false, else: false },
    { maxLength: 0 },
  ])('that is dynamic is checked with %j next to it', (next) => {
    for (const schema of dynamic) {
      const items = { ...schema.items, ...next };
      expect(check({ ...schema, items }, ['a'])).toContain('data/0 must');
    }
  });

  test.each([
    ['first', ['child', 'kind']],
    ['last', ['kind', 'child']],
  ])('that is written %s is followed only if everything else matches', (_, order) => {
    const node = (kind: string) => {
      const properties = { child: { $ref: '#/$defs/node' }, kind: { const: kind } };
      const sorted = order.map((name) => [name, properties[name as 'child']] as const);
      return { properties: Object.fromEntries(sorted), required: ['kind'] };
    };
    const schema = { $defs: { node: { anyOf: [node('a'), node('b')] } }, $ref: '#/$defs/node' };
    let value: object = { kind: 'b' };
    for (let level = 0; level < 30; level += 1) value = { kind: 'b', child: value };
    expect(check(schema, value)).toBe(null);
  });
});
