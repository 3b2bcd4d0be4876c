// @engines sqlite: it only reads files
import { describe, expect, test } from 'vitest';
import { problemsOfPage, problemsOfSource } from '../tools/scripts/prose.ts';

const LONG = `${'word '.repeat(36).trim()}.`;

describe('the prose check', () => {
  test.each([
    ['a vague word', 'Start.\n\nIt is for whoever asks.', 3, '"whoever"'],
    ['two words in a wrong combination', 'There is none.', 1, '"is none"'],
    ['a sentence of 36 words', `# Title\n\n${LONG}`, 3, 'a sentence of 36 words'],
    ['a long sentence in a list', `- Short.\n- ${LONG}`, 1, 'a sentence of 36 words'],
  ])('reports %s in a guide, with its line', (_, markdown, line, problem) => {
    expect(problemsOfPage('docs/guide.md', markdown)).toEqual([
      { file: 'docs/guide.md', line, problem: expect.stringContaining(problem) as string },
    ]);
  });

  test.each([
    ['code', 'Run `nobody`.\n\n```sh\nsudo -u nobody true\n```\n'],
    ['a link to a heading', 'See [a case](page.md#somebody-guesses).'],
    ['a sentence of 35 words', `${'word '.repeat(35).trim()}.`],
    ['a table', `| ${LONG} |\n| --- |\n| ${LONG} |\n`],
  ])('accepts %s', (_, markdown) => {
    expect(problemsOfPage('docs/guide.md', markdown)).toEqual([]);
  });

  test('allows long lists of conditions in a sentence of a reference page', () => {
    expect(problemsOfPage('docs/specification.md', LONG)).toEqual([]);
  });

  test('reports a vague word in a comment, and not in code', () => {
    const source =
      "const a = 'nobody';\n\n/** For\n * anybody. */\nexport const b = a; // `somebody`\n";
    expect(problemsOfSource('a.ts', source)).toEqual([
      { file: 'a.ts', line: 4, problem: expect.stringContaining('"anybody"') as string },
    ]);
  });

  test('reports a comment line with more than 100 columns', () => {
    const words = `// ${'word '.repeat(19).trim()}`;
    expect(problemsOfSource('a.ts', `${words}\n`)).toEqual([]);
    expect(problemsOfSource('a.ts', `\n${words} long\n`)).toEqual([
      { file: 'a.ts', line: 2, problem: 'a comment of 102 columns; keep to 100' },
    ]);
    expect(problemsOfSource('a.ts', `// @shows ${'AS-1.1, '.repeat(20)}\n`)).toEqual([]);
  });
});
