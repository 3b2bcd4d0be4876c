/**
 * `npm run prose`: finds vague and old-fashioned words in pages and comments, and sentences in
 * guides that are too long. It prints each with its place, and exits with 1.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { pagesOf, proseOf } from './markdown.ts';
import { ROOT } from './packages.ts';

/** The words to avoid, and what to write instead. */
const WORDS: Readonly<Record<string, string>> = {
  whoever: 'name them: the person, the client, an attacker',
  whomever: 'name them: the person, the client, an attacker',
  nobody: 'no one, or name who does not',
  somebody: 'a person, a client, an attacker',
  anybody: 'anyone, everyone',
  wherein: 'in which',
  thereof: 'of it',
  'is none': 'say what it is: is not valid, does not exist',
  'of its own': 'its own, separate',
  mend: 'fix',
  lies: 'is',
  anew: 'again',
};

const FORBIDDEN = new RegExp(String.raw`\b(${Object.keys(WORDS).join('|')})\b`, 'gi');

/** The longest line of a comment, in columns. */
const LONGEST_LINE = 100;

/** The longest sentence, in words. Readers have to read a longer sentence twice. */
const LONGEST_SENTENCE = 35;

/** Reference pages. Their sentences may be long, because they list conditions. */
const REFERENCE =
  /^docs\/(?:specification|standards|assurance|threat-model|troubleshooting|configuration|decisions\/.*)\.md$|^tools\/bench\/RESULTS\.md$/;

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly problem: string;
}

/** Returns what is wrong with this page. */
export function problemsOfPage(file: string, markdown: string): readonly Finding[] {
  const prose = proseOf(markdown, false);
  // Ignore headings in URLs and names of files, because they cannot change.
  const words = wordsIn(file, prose.replaceAll(/\]\([^)]*\)|<a [^>]*>|^\[[^\]]*\]:.*$/gm, blank));
  return REFERENCE.test(file) ? words : [...words, ...longSentences(file, prose)];
}

/** Returns what is wrong with the comments of this source. */
export function problemsOfSource(file: string, source: string): readonly Finding[] {
  const { comments } = parseSync(file, source);
  const words = comments.flatMap(({ value, start }) =>
    wordsIn(file, value.replaceAll(/`[^`\n]*`/g, blank), lineAt(source, start)),
  );
  return [...words, ...longComments(file, source)];
}

/** Matches text that must stay on one line: a marker for a tool, a URL, or a drawn line. */
const IN_ONE_LINE = /@[\w-]+|https?:|oxlint|-{20}/;

/**
 * Returns lines that contain only a comment and are too long. Prettier wraps code but not comments.
 */
function longComments(file: string, source: string): readonly Finding[] {
  return source.split('\n').flatMap((text, index) => {
    const isLong = text.length > LONGEST_LINE && /^\s*(?:\/\/|\/?\*)/.test(text);
    if (!isLong || IN_ONE_LINE.test(text)) return [];
    return [
      {
        file,
        line: index + 1,
        problem: `a comment of ${text.length} columns; keep to ${LONGEST_LINE}`,
      },
    ];
  });
}

function wordsIn(file: string, text: string, firstLine = 1): readonly Finding[] {
  return [...text.matchAll(FORBIDDEN)].map(({ 0: word, index }) => ({
    file,
    line: firstLine + lineAt(text, index) - 1,
    problem: `"${word}": ${WORDS[word.toLowerCase()]}`,
  }));
}

/** Returns long sentences in paragraphs and list items. Tables have no sentences. */
function longSentences(file: string, prose: string): readonly Finding[] {
  const found: Finding[] = [];
  for (const { 0: block, index } of prose.matchAll(/(?:^(?![ \t]*(?:#|\|))[^\n]*\S[^\n]*\n?)+/gm)) {
    const items = block.split(/^(?= *(?:[-*]|\d+\.) )/m);
    for (const sentence of items.flatMap((item) => item.split(/(?<=[.!?:;])\s+/))) {
      const length = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
      if (length > LONGEST_SENTENCE)
        found.push({
          file,
          line: lineAt(prose, index),
          problem: `a sentence of ${length} words: ${sentence.slice(0, 60).trim()}…`,
        });
    }
  }
  return found;
}

const blank = (match: string) => match.replaceAll(/[^\n]/g, ' ');
const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

if (import.meta.main) {
  const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
  const sources = globSync('{packages/*/{src,bin},examples,test,tools}/**/*.{ts,js,mjs}', {
    cwd: ROOT,
    exclude: (name) => ['node_modules', 'dist', '.next', 'build'].includes(path.basename(name)),
  }).toSorted();
  const found = [
    ...pagesOf(ROOT).flatMap((file) => problemsOfPage(file, read(file))),
    ...sources.flatMap((file) => problemsOfSource(file, read(file))),
  ];
  for (const { file, line, problem } of found)
    process.stderr.write(`${file}:${line}: ${problem}\n`);
  if (found.length > 0) process.exitCode = 1;
}
