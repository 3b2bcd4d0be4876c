// The reports of `npm run mutation`. The folder reports/mutation has a file for each area, with the
// result for every mutant. Git ignores it. The stored result is smaller: see baseline.ts. The
// survivors are explained by hand in tools/mutation/explained.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';

const root = path.join(import.meta.dirname, '..', '..');
const REPORTS = path.join('reports', 'mutation');

/**
 * The result for a mutant. `static` means that the mutant acts while a file is loaded or a server
 * is created, before any test. `words` means that the mutant is in a sentence for a person
 * (words.ts).
 */
export type Fate = 'killed' | 'survived' | 'static' | 'words';

export interface Mutant {
  /** The start and the end, as an editor counts them: `line:column-line:column`. */
  readonly at: string;
  /** Stryker's name for the rule. */
  readonly mutator: string;
  readonly replacement: string;
  readonly fate: Fate;
  /** The file of the test that failed. */
  readonly by?: string;
}

export interface MutatedFile {
  /** The SHA-256 of the code that was mutated. */
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

export type Report = Readonly<Record<string, MutatedFile>>;

/**
 * An explanation of a mutant that may survive. It names the text of the source instead of line
 * numbers, because line numbers change.
 */
export interface Explanation {
  readonly file: string;
  /** The whole line where the mutant begins, without its indentation. */
  readonly line: string;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  /**
   * How many places of the file it explains, if the same line appears several times. Default: 1.
   */
  readonly places?: number;
  readonly why: string;
}

export interface Survivor extends Omit<Explanation, 'why' | 'places'> {
  readonly at: string;
}

/** Returns the results of all areas that were run on this machine. */
export function readReport(): Report {
  return Object.assign({}, ...readEach(REPORTS)) as Report;
}

export function writeReport(area: string, report: Report): void {
  mkdirSync(path.join(root, REPORTS), { recursive: true });
  writeFileSync(path.join(root, REPORTS, `${area}.json`), JSON.stringify(report, null, 1));
}

export function readExplanations(): readonly Explanation[] {
  return (readEach(path.join('tools', 'mutation', 'explained')) as Explanation[][]).flat();
}

function readEach(folder: string): readonly unknown[] {
  const files = globSync(`${folder}/*.json`, { cwd: root }).toSorted();
  return files.map((file) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as unknown);
}

/** Returns the SHA-256 of the code in the file, without comments and line breaks. */
export function hashOf(file: string): string {
  const text = readFileSync(path.join(root, file), 'utf8');
  let code = '';
  let at = 0;
  for (const { start, end } of parseSync(file, text).comments) {
    code += text.slice(at, start);
    at = end;
  }
  code += text.slice(at);
  return createHash('sha256').update(code.replaceAll(/\s+/g, ' ')).digest('hex');
}

/** Whether the code in the file is unchanged since it was mutated. */
export function isCurrent(
  known: Readonly<Record<string, { readonly source: string }>>,
  file: string,
): boolean {
  return existsSync(path.join(root, file)) && known[file]?.source === hashOf(file);
}

/**
 * Returns the survivors of a file, with their text in the source. The source must be the one that
 * was mutated.
 */
export function survivorsOf(report: Report, file: string): readonly Survivor[] {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  return (report[file]?.mutants ?? [])
    .filter(({ fate }) => fate === 'survived')
    .map(({ at, mutator, replacement }) => {
      const [line = 1, from = 1, last = 1, to = 1] = at.split(/[:-]/).map(Number);
      const text = lines.slice(line - 1, last);
      text[text.length - 1] = (text.at(-1) ?? '').slice(0, to - 1);
      text[0] = (text[0] ?? '').slice(from - 1);
      return {
        file,
        at,
        line: (lines[line - 1] ?? '').trim(),
        mutator,
        original: text.join('\n'),
        replacement,
      };
    });
}

/**
 * Returns what is wrong with a report, and what to do. Empty if nothing is wrong. Ignores files
 * that the report does not contain.
 */
export function problemsOf(
  report: Report,
  explanations: readonly Explanation[],
): readonly string[] {
  const left = new Set(explanations);
  const current = Object.keys(report).filter((file) => isCurrent(report, file));
  const unexplained = current
    .flatMap((file) => survivorsOf(report, file))
    .filter((survivor) => {
      const explanation = explanations.find((each) => explains(each, survivor));
      if (explanation !== undefined) left.delete(explanation);
      return explanation === undefined;
    });
  const files = new Set(current);
  return [
    ...unexplained.map(
      ({ file, at, original, replacement }) =>
        `${file}:${at.split('-')[0]}: no test fails when ${shortened(original)} becomes ${shortened(replacement)}`,
    ),
    ...[...left]
      .filter(({ file }) => files.has(file))
      .map(
        ({ file, line, replacement }) =>
          `tools/mutation/explained explains nothing any more: ${file}: ${line} => ${replacement}`,
      ),
  ];
}

function explains(explanation: Explanation, survivor: Survivor): boolean {
  const keys = ['file', 'line', 'mutator', 'original', 'replacement'] as const;
  return keys.every((key) => explanation[key] === survivor[key]);
}

function shortened(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 80);
}
