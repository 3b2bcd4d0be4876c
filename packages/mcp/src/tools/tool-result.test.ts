import { describe, expect, test } from 'vitest';
import { asBefore, content, errorResult, toolResult } from './tool-result.ts';
import { createToolRegistry, type RegisteredTool } from './tools.ts';

function registered(outputSchema?: Readonly<Record<string, unknown>>): RegisteredTool {
  const tools = createToolRegistry();
  tools.register({
    name: () => 'made',
    description: () => '',
    inputSchema: () => ({ type: 'object' }),
    ...(outputSchema === undefined ? {} : { outputSchema: () => outputSchema }),
    handle: () => null,
  });
  return tools.all()[0] as RegisteredTool;
}

const ANY = registered({});
const plain = registered();

const text = (sent: string) => ({ content: [{ type: 'text', text: sent }] });
const both = (value: object) => ({ ...text(JSON.stringify(value)), structuredContent: value });

describe('what a tool returns', () => {
  test.each([
    ['a text', 'a "text"', text('a "text"')],
    ['an empty text', '', text('')],
    ['an object', { a: 1 }, both({ a: 1 })],
    ['an empty object', {}, both({})],
    ['a list', [1, 2], text('[1,2]')],
    ['a date', new Date(0), text('"1970-01-01T00:00:00.000Z"')],
    ['null', null, text('null')],
    ['undefined', undefined, text('')],
    ['a number', 1, text('1')],
    ['a function', () => 1, text('')],
    ['text with half a character', { a: '\ud800' }, both({ a: '\ufffd' })],
  ])('as %s becomes text, and only an object structured content', (_, returned, result) => {
    expect(toolResult(plain, returned)).toEqual(result);
  });

  test.each(['a', [1], null, 1, false, new Date(0)])(
    'can be any JSON value if there is an output schema: %j',
    (returned) => {
      const json = JSON.stringify(returned);
      expect(toolResult(ANY, returned)).toEqual({
        ...text(typeof returned === 'string' ? returned : json),
        structuredContent: JSON.parse(json) as unknown,
      });
    },
  );

  test('never contains the member __proto__', () => {
    const parsed = JSON.parse('{"__proto__":{"a":1},"b":2}') as Record<string, unknown>;
    for (const returned of [parsed, content([], parsed)]) {
      const sent = toolResult(plain, returned).structuredContent as object;
      expect(Object.getOwnPropertyNames(sent)).toEqual(['b']);
    }
  });

  test('must match the output schema', () => {
    const tool = registered({ type: 'object', required: ['a'] });
    expect(toolResult(tool, { a: 1 })).toEqual(both({ a: 1 }));
    expect(toolResult(tool, content([], { a: 1 }))).toEqual({
      content: [],
      structuredContent: { a: 1 },
    });
    expect(() => toolResult(tool, {})).toThrow(
      "The result does not match outputSchema(): data must have required property 'a'",
    );
    for (const returned of [undefined, content([])])
      expect(() => toolResult(tool, returned)).toThrow('there is no structured content');
  });

  test('must be JSON', () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    expect(() => toolResult(plain, round)).toThrow(TypeError);
    expect(() => toolResult(plain, 1n)).toThrow(TypeError);
  });
});

describe('content()', () => {
  test('is sent as it is', () => {
    const blocks = [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] as const;
    expect(toolResult(plain, content([...blocks]))).toEqual({ content: blocks });
    expect(toolResult(plain, content([...blocks], { a: 1 }))).toEqual({
      content: blocks,
      structuredContent: { a: 1 },
    });
  });

  test.each([
    ['text', 'content() must get a list of content blocks'],
    [{ type: 'text', text: 'a' }, 'content() must get a list of content blocks'],
    [undefined, 'content() must get a list of content blocks'],
    [[{ type: 'text', text: 'a' }, { type: 'text' }], 'Block 1 in the list that content() gets'],
    [[null], 'Block 0 in the list that content() gets'],
  ])('refuses the blocks %j', (blocks, problem) => {
    expect(() => toolResult(plain, content(blocks as never))).toThrow(problem);
  });

  test.each(['a', 1, [1]])('refuses the structured content %j', (structured) => {
    expect(() => toolResult(plain, content([], structured as never))).toThrow(
      'The structured content that content() gets must be an object',
    );
  });
});

describe('before 2026-07-28', () => {
  test.each(['a', 1, null, [1]])('there is no structured content %j', (structuredContent) => {
    const result = { ...errorResult('No.'), structuredContent };
    expect(asBefore(result, '2025-11-25')).toEqual(errorResult('No.'));
  });

  test('objects stay', () => {
    const result = both({ a: 1 }) as ReturnType<typeof errorResult>;
    expect(asBefore(result, '2025-03-26')).toEqual(result);
    expect(asBefore(errorResult('No.'), '2025-11-25')).toEqual({ ...text('No.'), isError: true });
  });

  test('links to resources are text up to 2025-03-26', () => {
    const link = { type: 'resource_link', uri: 'app://a', name: 'A' } as const;
    const result = { content: [link, { type: 'text' as const, text: 'a' }], isError: true };
    expect(asBefore(result, '2025-06-18')).toEqual(result);
    expect(asBefore(result, '2025-03-26')).toEqual({
      content: [...text('A: app://a').content, ...text('a').content],
      isError: true,
    });
  });
});
