import { expect, test } from 'vitest';
import { readTrace } from './trace.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a trace is read as the client sent it', () => {
  const meta = { traceparent: PARENT, tracestate: 'a=1', baggage: 'b=2', other: 3 };
  expect(readTrace(meta)).toEqual({ parent: PARENT, state: 'a=1', baggage: 'b=2' });
  expect(readTrace({ traceparent: PARENT })).toEqual({
    parent: PARENT,
    state: null,
    baggage: null,
  });
});

test.each([
  undefined,
  7,
  [PARENT],
  '',
  ` ${PARENT}`,
  `${PARENT} `,
  PARENT.toUpperCase(),
  PARENT.replace('00-', 'ff-'),
  PARENT.replace('00-', ''),
  PARENT.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
  PARENT.replace('b7ad6b7169203331', '0'.repeat(16)),
])('without a valid traceparent, there is no trace: %j', (traceparent) => {
  expect(readTrace({ traceparent, tracestate: 'a=1' })).toBe(null);
});

test('without metadata, there is no trace', () => {
  expect(readTrace(undefined)).toBe(null);
});

test.each([
  ['tracestate', 'state', 512],
  ['baggage', 'baggage', 8192],
] as const)('%s is dropped if it is malformed or too long', (name, member, longest) => {
  const read = (value: unknown) => readTrace({ traceparent: PARENT, [name]: value })?.[member];
  for (const good of ['a', ' ~', 'x'.repeat(longest)]) expect(read(good)).toBe(good);
  const bad = ['', 'a\nb', 'ä', 'a\u0000', '\u007f', 'x'.repeat(longest + 1), 7, ['a'], null];
  for (const each of bad) expect(read(each)).toBe(null);
});
