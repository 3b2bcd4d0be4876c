import { expect, test } from 'vitest';
import { decoded, repeatedArguments, unrepeated } from './parameter-headers.ts';

const marked = (header: unknown, type = 'string') => ({ type, 'x-mcp-header': header });

/** The properties that the schema of a tool has in these tests. */
const PROPERTIES = {
  place: { type: 'object', properties: { region: marked('Region') } },
  floor: marked('Floor', 'integer'),
  open: marked('Open', 'boolean'),
};

/** Returns a schema that was not read before: the result is kept for each object. */
const schemaWith = (keywords: object) => ({ type: 'object', ...keywords });

test('a header in base64 that is not UTF-8 has no value', () => {
  expect(decoded('=?base64?/w==?=')).toBeNull();
});

test.each([
  [{ open: true }, { 'Mcp-Param-Open': 'true' }],
  [{ open: false }, { 'Mcp-Param-Open': 'false' }],
  [{ floor: 42 }, { 'Mcp-Param-Floor': '42.00' }],
  [{ place: null }, {}],
  // No header can repeat a list. The schema refuses this argument.
  [{ floor: [42] }, {}],
])('the arguments %j match the headers %j', (args, headers) => {
  const schema = schemaWith({ properties: PROPERTIES });
  expect(unrepeated(schema, args, new Headers(headers as HeadersInit))).toBeNull();
});

test.each([
  [{ open: true }, { 'Mcp-Param-Open': 'false' }, 'mcp-param-open'],
  [{ open: true }, {}, 'mcp-param-open'],
  [{ floor: null }, { 'Mcp-Param-Floor': '42' }, 'mcp-param-floor'],
  [{ floor: 66 }, { 'Mcp-Param-Floor': '0x42' }, 'mcp-param-floor'],
])('the arguments %j do not match the headers %j: %s', (args, headers, wrong) => {
  const schema = schemaWith({ properties: PROPERTIES });
  expect(unrepeated(schema, args, new Headers(headers as HeadersInit))).toBe(wrong);
});

test('a marked argument has a path from the root and the name of its header', () => {
  expect(repeatedArguments(schemaWith({ properties: PROPERTIES }))).toEqual([
    { path: ['place', 'region'], header: 'mcp-param-region' },
    { path: ['floor'], header: 'mcp-param-floor' },
    { path: ['open'], header: 'mcp-param-open' },
  ]);
});

test('a schema is read only once', () => {
  const schema = schemaWith({ properties: PROPERTIES });
  expect(repeatedArguments(schema)).toBe(repeatedArguments(schema));
});

test.each([
  ['in a default value', { default: marked('Region') }],
  ['in a list of values', { enum: [marked('Region')] }],
  ['in a list instead of properties', { properties: [marked('Region')] }],
])('%s, x-mcp-header marks no argument', (_, keywords) => {
  expect(repeatedArguments(schemaWith(keywords))).toEqual([]);
});

const TWICE = 'uses the same x-mcp-header twice';
const NO_NAME = 'has an x-mcp-header that is not a valid header name';
const NO_PLACE =
  'has an x-mcp-header on a property that is not a string, integer or boolean: Region';

test.each([
  ['twice', { properties: { a: marked('Region'), b: marked('REGION') } }, TWICE],
  ['with a number as the name', { properties: { a: marked(3) } }, NO_NAME],
  ['at the root', marked('Region'), NO_PLACE],
  ['in a choice', { anyOf: [marked('Region')] }, NO_PLACE],
  ['in the objects of a list', { items: { properties: { a: marked('Region') } } }, NO_PLACE],
])('a schema with x-mcp-header %s is refused', (_, keywords, problem) => {
  expect(() => repeatedArguments(schemaWith(keywords))).toThrow(new Error(problem));
});
