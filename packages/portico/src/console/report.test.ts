import { ConfigurationError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import type { ConsoleContext } from '../application/console-context.ts';
import { failing, ok, skipped, warning, type Check } from './checks.ts';
import { configurationChecks, printReport } from './report.ts';

/** Returns what the command prints, and the message with which it ends. */
function printed(checks: readonly Check[], json = false, lines?: readonly string[]) {
  const said: unknown[] = [];
  const context = {
    print: (line: string) => void said.push(line),
    printJson: (value: unknown) => void said.push(value),
    fail(message: string): never {
      throw new Error(message);
    },
  } as ConsoleContext;
  let end: string | null = null;
  try {
    const report = { checks, open_rotations: [] };
    printReport(context, report, lines === undefined ? { json } : { json, lines });
  } catch (error) {
    end = (error as Error).message;
  }
  return { said, end };
}

const FINE = { part: 'store', ...ok('sqlite answers') };
const LEFT_OUT = { part: 'schema', ...skipped('not checked') };
const WARNED = { part: 'key rotation', ...warning('a key is old', 'rotate it') };
const BROKEN = { part: 'views', ...failing('it broke', 'fix it') };

describe('the report of the doctor', () => {
  test('aligns the parts, and adds to each problem what to do and where to read more', () => {
    expect(printed([FINE, LEFT_OUT, WARNED])).toEqual({
      said: [
        [
          'ok       store         sqlite answers',
          'skipped  schema        not checked',
          'warning  key rotation  a key is old',
          '                       → rotate it',
          '                         docs/keys.md',
          'No check fails. Warnings: 1.',
        ].join('\n'),
      ],
      end: null,
    });
  });

  test('ends the command with the number of failures, and without a closing line', () => {
    expect(printed([FINE, BROKEN], false, ['open     secret rotation'])).toEqual({
      said: [
        [
          'ok       store  sqlite answers',
          'failing  views  it broke',
          '                → fix it',
          '                  docs/troubleshooting.md#a-page-cannot-be-shown',
          'open     secret rotation',
        ].join('\n'),
      ],
      end: 'One check fails.',
    });
    expect(printed([BROKEN, WARNED, BROKEN]).end).toBe('2 checks fail.');
  });

  test('says that no check fails', () => {
    expect(printed([FINE])).toEqual({
      said: ['ok       store  sqlite answers\nNo check fails.'],
      end: null,
    });
  });

  test('links to no page about a part without one', () => {
    const { said } = printed([{ part: 'own part', ...warning('a', 'b') }]);
    expect(said).toEqual([
      'warning  own part  a\n                   → b\nNo check fails. Warnings: 1.',
    ]);
  });

  test('with --json is only JSON', () => {
    expect(printed([FINE, WARNED], true, ['a line'])).toEqual({
      said: [{ healthy: true, checks: [FINE, WARNED], open_rotations: [] }],
      end: null,
    });
    expect(printed([BROKEN], true)).toEqual({
      said: [{ healthy: false, checks: [BROKEN], open_rotations: [] }],
      end: 'One check fails.',
    });
  });
});

describe('an application that cannot start', () => {
  test('is reported with each wrong key, or with the message file', () => {
    const error = new ConfigurationError([
      { key: 'public_url', message: 'is missing' },
      { key: '/app/messages/de.json', message: 'is not JSON' },
    ]);
    expect(configurationChecks(error)).toEqual([
      {
        part: 'configuration',
        outcome: 'failing',
        detail: 'public_url: is missing',
        remedy: 'correct the configuration, then run the command again to see the other checks',
      },
      {
        part: 'messages',
        outcome: 'failing',
        detail: '/app/messages/de.json: is not JSON',
        remedy: 'correct the file, then run the command again to see the other checks',
      },
    ]);
  });

  test('because of another error is not reported', () => {
    expect(configurationChecks(new Error('it broke'))).toBeNull();
  });
});
