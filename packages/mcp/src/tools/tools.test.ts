import { describe, expect, test } from 'vitest';
import { createToolRegistry, ToolError } from './tools.ts';

const GOOD = {
  name: () => 'made',
  description: () => 'Makes.',
  inputSchema: () => ({ type: 'object', properties: { a: { type: 'string' } } }),
  handle: () => null,
};

/** Registers a tool that differs from a good one in these members. */
function registered(members: object) {
  const tools = createToolRegistry();
  tools.register({ ...GOOD, ...members });
  return tools.find('made') ?? tools.all()[0];
}

describe('a tool', () => {
  test('is read as it describes itself', () => {
    expect(registered({})).toMatchObject({
      name: 'made',
      description: 'Makes.',
      inputSchema: GOOD.inputSchema(),
      title: null,
      annotations: null,
      icons: null,
      outputSchema: null,
      personal: false,
      scope: null,
    });
    const icons = [{ src: 'https://shop.example/a.png', theme: 'dark', sizes: ['any', '48x48'] }];
    const annotations = { title: 'A', readOnlyHint: true, destructiveHint: false };
    const described = {
      title: () => 'Made',
      annotations: () => annotations,
      icons: () => icons,
      outputSchema: () => ({ type: 'object' }),
      personal: true,
    };
    expect(registered(described)).toMatchObject({
      title: 'Made',
      annotations,
      icons,
      outputSchema: { type: 'object' },
      personal: true,
      scope: null,
    });
    expect(registered({ scope: () => 'orders' })).toMatchObject({
      personal: true,
      scope: 'orders',
    });
  });

  test('keeps its description when it is registered', () => {
    const icon = { src: 'https://shop.example/a.png' };
    const annotations = { readOnlyHint: true };
    const tool = registered({ icons: () => [icon], annotations: () => annotations });
    icon.src = 'javascript:alert(1)';
    annotations.readOnlyHint = false;
    expect(tool?.icons).toEqual([{ src: 'https://shop.example/a.png' }]);
    expect(tool?.annotations).toEqual({ readOnlyHint: true });
  });

  test('has problems with its arguments and its result', () => {
    const tool = registered({ outputSchema: () => ({ type: 'object', required: ['b'] }) });
    expect([tool?.argumentsProblem({ a: 'x' }), tool?.argumentsProblem({ a: 1 })]).toEqual([
      null,
      'data/a must be string',
    ]);
    expect([tool?.resultProblem({ b: 1 }), tool?.resultProblem({})]).toEqual([
      null,
      "data must have required property 'b'",
    ]);
    expect(registered({})?.resultProblem(1)).toBe(null);
  });

  test('with an invalid schema fails with the error of the validator as the cause', () => {
    const register = () => registered({ inputSchema: () => ({ type: 'object', required: 1 }) });
    expect(register).toThrow(expect.objectContaining({ cause: expect.any(Error) as Error }));
  });

  test.each(['a', 'A9_./-', 'x'.repeat(128)])('can have the name %j', (name) => {
    expect(registered({ name: () => name })?.name).toBe(name);
  });

  test.each(['', 'x'.repeat(129), 'a b', 'ä', 'a\n', 7, null])(
    'cannot have the name %j',
    (name) => {
      expect(() => registered({ name: () => name })).toThrow(
        `The tool name ${JSON.stringify(name)} must have 1 to 128 of these characters`,
      );
    },
  );

  test.each([
    [{ description: () => null }, 'The description() of the tool made must return a string'],
    [{ inputSchema: () => ({ type: 'string' }) }, 'of the tool made must describe an object'],
    [{ inputSchema: () => ({}) }, 'The inputSchema() of the tool made must describe an object'],
    [
      { inputSchema: () => ({ type: 'object', properties: 1 }) },
      'The inputSchema() of the tool made cannot be used: properties',
    ],
    [
      { outputSchema: () => ({ type: 'nope' }) },
      'The outputSchema() of the tool made cannot be used: type',
    ],
    [{ title: () => '' }, 'The title() of the tool made must return a string that is not empty'],
    [{ title: () => 7 }, 'The title() of the tool made must return a string that is not empty'],
    [{ annotations: () => ({ hint: 1 }) }, 'contain hint, which MCP does not define'],
    [{ annotations: () => ({ readOnlyHint: 1 }) }, 'each hint must be true or false'],
    [{ scope: 'orders' }, 'The scope of the tool made must be a method'],
    [{ personal: 'yes' }, 'The tool made must have personal: true'],
  ])('must be described well: %#', (members, problem) => {
    expect(() => registered(members)).toThrow(problem);
  });

  test.each([
    'https://shop.example/a.png',
    'data:image/svg+xml;base64,AA==',
    'data:image/x;base64,A',
  ])('can have an icon from %j', (src) => {
    expect(registered({ icons: () => [{ src }] })?.icons).toEqual([{ src }]);
  });

  test.each([
    [{ src: 'http://shop.example/a.png' }, 'has an invalid src'],
    [{ src: 'https://user@shop.example/' }, 'has an invalid src'],
    [{ src: 'https://:secret@shop.example/' }, 'has an invalid src'],
    [{ src: 'shop.example' }, 'has an invalid src'],
    [{ src: 'data:text/html;base64,AA==' }, 'has an invalid src'],
    [{ src: ' data:image/png;base64,AA==' }, 'has an invalid src'],
    [{ src: 'data:image/png;base64,AA== ' }, 'has an invalid src'],
    [{ src: 7 }, 'is not a valid MCP icon'],
    [{ src: 'https://shop.example/', alt: 'A' }, 'has alt, which MCP does not define'],
    [{ src: 'https://shop.example/', sizes: ['48x48', '048x48'] }, 'has invalid sizes'],
    [{ src: 'https://shop.example/', sizes: ['x48x48'] }, 'has invalid sizes'],
    [{ src: 'https://shop.example/', sizes: ['48x48 '] }, 'has invalid sizes'],
    [{ src: 'https://shop.example/', theme: 'grey' }, 'is not a valid MCP icon'],
  ])('cannot have the icon %j', (icon, problem) => {
    const icons = [{ src: 'https://shop.example/a.png', theme: 'light' }, icon];
    expect(() => registered({ icons: () => icons })).toThrow(`Icon 1 of the tool made ${problem}`);
  });
});

describe('the registry', () => {
  test('has each tool once, in the order of registration', () => {
    const tools = createToolRegistry();
    expect([tools.all(), tools.find('b')]).toEqual([[], null]);
    for (const name of ['b', 'a']) tools.register({ ...GOOD, name: () => name });
    const all = tools.all();
    expect([all.map(({ name }) => name), all === tools.all()]).toEqual([['b', 'a'], true]);
    expect(() => tools.register({ ...GOOD, name: () => 'a' })).toThrow('Two tools are named a');
    expect([tools.all() === all, tools.find('a')]).toEqual([true, all[1]]);
  });
});

test('an error for the model has its own name', () => {
  expect(new ToolError('No.')).toMatchObject({ name: 'ToolError', message: 'No.' });
});
