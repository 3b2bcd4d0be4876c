import { expect, test } from 'vitest';
import { check, failing, isHealthy, ok, skipped, warning } from './checks.ts';

function createLog() {
  const errors: unknown[] = [];
  const ignore = () => {};
  const error = (message: string, details?: object) => void errors.push([message, details]);
  return { errors, log: { debug: ignore, info: ignore, warning: ignore, error } };
}

test('a report is healthy if no check fails', () => {
  const fine = [ok('a'), skipped('b'), warning('c', 'd')].map((each) => ({ part: 'x', ...each }));
  expect(isHealthy([])).toBe(true);
  expect(isHealthy(fine)).toBe(true);
  expect(isHealthy([...fine, { part: 'x', ...failing('e', 'f') }])).toBe(false);
});

test('a finding gets the name of the examined part, unless it has one', async () => {
  const { errors, log } = createLog();
  const own = { part: 'client keys', ...ok('b') };
  expect(await check(log, 'clients', () => [ok('a'), own])).toEqual([
    { part: 'clients', ...ok('a') },
    own,
  ]);
  expect(errors).toEqual([]);
});

test.each([
  [new Error('it broke'), 'it broke'],
  ['a text', 'a text'],
])(
  'an examination that throws %s fails its check, and the log has the details',
  async (thrown, detail) => {
    const { errors, log } = createLog();
    const found = await check(log, 'views', async () => {
      throw thrown;
    });
    expect(found).toEqual([{ part: 'views', ...failing(detail, 'for details, see the log') }]);
    expect(errors).toEqual([
      ['The doctor could not check {part}: {exception}', { part: 'views', exception: thrown }],
    ]);
  },
);
