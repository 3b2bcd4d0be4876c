import { describe, expect, test } from 'vitest';
import type { McpContext } from '../context.ts';
import { Contributions } from '../contributions.ts';
import type { McpFeature } from '../feature.ts';
import { ToolList } from './tool-list.ts';
import { createToolRegistry } from './tools.ts';

const VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const NO_CONTEXT = {} as McpContext;

/** Returns the list of these tools in each version. */
function listed(tools: readonly object[], features: readonly McpFeature[] = []) {
  const registry = createToolRegistry();
  const list = new ToolList(registry, new Contributions(NO_CONTEXT, features));
  const add = (members: object) =>
    registry.register({
      name: () => 'made',
      description: () => 'Makes.',
      inputSchema: () => ({ required: ['a'], type: 'object' }),
      handle: () => null,
      ...members,
    });
  for (const tool of tools) add(tool);
  const read = (version: string) => JSON.parse(list.text(version)) as readonly object[];
  return { read, add, text: (version: string) => list.text(version) };
}

const PLAIN = {
  name: 'made',
  description: 'Makes.',
  inputSchema: { required: ['a'], type: 'object' },
};

describe('the list of tools', () => {
  test.each(VERSIONS)('in %s has the members that every version defines', (version) => {
    const { read } = listed([{}, { name: () => 'other', annotations: () => ({}) }]);
    expect(read(version)).toEqual([PLAIN, { ...PLAIN, name: 'other', annotations: {} }]);
  });

  test.each([
    ['title', 'Made', '2025-06-18'],
    ['icons', [{ src: 'data:image/png;base64,AA==' }], '2025-11-25'],
    ['outputSchema', { type: 'object' }, '2025-06-18'],
    ['outputSchema', { type: 'array' }, '2026-07-28'],
    ['outputSchema', {}, '2026-07-28'],
  ])('has %s only in versions that define it: %#', (member, value, since) => {
    const { read } = listed([{ [member]: () => value }]);
    const found = VERSIONS.filter((version) => member in (read(version)[0] ?? {}));
    expect(found).toEqual(VERSIONS.filter((version) => version >= since));
    expect(read(since)).toEqual([{ ...PLAIN, [member]: value }]);
  });

  test('is the same text until a tool is added', () => {
    const { text, read, add } = listed([]);
    expect([text('2025-11-25'), text('2026-07-28')]).toEqual(['[]', '[]']);
    add({});
    expect([read('2025-11-25'), read('2026-07-28')]).toEqual([[PLAIN], [PLAIN]]);
  });

  test('has what features add', () => {
    let times = 0;
    const counting: McpFeature = {
      name: 'counting',
      start: () => ({
        isOffered: () => true,
        toolMembers: ({ name }, version) => ({ name: `${name} ${version}`, times: (times += 1) }),
      }),
    };
    const { read } = listed([{}], [counting]);
    const first = { ...PLAIN, name: 'made 2025-11-25', times: 1 };
    expect([read('2025-11-25'), read('2025-11-25')]).toEqual([[first], [first]]);
    expect(read('2026-07-28')).toEqual([{ ...PLAIN, name: 'made 2026-07-28', times: 2 }]);
  });
});
