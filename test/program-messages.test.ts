// @engines sqlite: it only reads files
import { describe, expect, test } from 'vitest';
import {
  messagesOf,
  programMessages,
  programMessagesPage,
} from '../tools/scripts/program-messages.ts';

const MESSAGES = programMessages();
const inSource = (text: string) =>
  messagesOf('packages/portico/src/a/b.ts', text).map(({ section, text: said, remedy }) => [
    section,
    said,
    remedy,
  ]);

describe('the page of operator messages', () => {
  test.each([
    ['console', 100],
    ['printed', 150],
    ['configuration', 100],
    ['doctor', 100],
  ])('has the messages of each program: %s', (section, least) => {
    expect(MESSAGES.filter((each) => each.section === section).length).toBeGreaterThan(least);
  });

  test('is a readable table with one line for each message', () => {
    const rows = programMessagesPage()
      .split('\n')
      .filter(
        (line) =>
          line.startsWith('| ') && !line.startsWith('| Message') && !line.startsWith('| ---'),
      );
    expect(rows.length).toBe(MESSAGES.length);
    expect(rows.filter((row) => !/ \| `[\w/.-]+` \|$/.test(row))).toEqual([]);
  });

  test('has no message that consists only of placeholders', () => {
    expect(MESSAGES.filter(({ text }) => /^(?:\{\w+\}\s*)*$/.test(text))).toEqual([]);
  });
});

describe('the page contains a message', () => {
  test.each([
    [
      'of a refusal',
      "throw new ConsoleError('There is no file');",
      'console',
      'There is no file',
      null,
    ],
    [
      'with a placeholder',
      'x.fail(`The file ${a.path} is gone`);',
      'console',
      'The file {path} is gone',
      null,
    ],
    ['in two parts', "x.print('One part, ' + 'and two');", 'printed', 'One part, and two', null],
    [
      'of an option',
      "c.option('--a <b>', 'what it does');",
      'printed',
      '--a <b>: what it does',
      null,
    ],
    ['of the doctor', "failing('It is full', 'free space');", 'doctor', 'It is full', 'free space'],
    [
      'about a configuration key',
      "z.refine(f, 'must be a path of it');",
      'configuration',
      'must be a path of it',
      null,
    ],
  ])('%s', (_, code, ...expected) => {
    expect(inSource(code)).toEqual([expected]);
  });

  test('in each branch of a condition', () => {
    const code = "x.fail(one ? 'One check fails.' : `${n} checks fail.`);";
    expect(inSource(code).map(([, said]) => said)).toEqual([
      'One check fails.',
      '{n} checks fail.',
    ]);
  });
});
