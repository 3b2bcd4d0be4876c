// What `npm run mutation` leaves behind. reports/mutation, which git ignores, has a file for each
// area that says of every mutant what became of it. What is kept is small: baseline.ts. What lives
// is explained in tools/mutation/explained, by hand.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..', '..');
const REPORTS = path.join('reports', 'mutation');

/**
 * `static`: it acts while a file is loaded or a server is made, before any test. `words`: a
 * sentence for a person (words.ts).
 */
export type Fate = 'killed' | 'survived' | 'static' | 'words';

export interface Mutant {
  /** From and to, as an editor counts: `line:column-line:column`. */
  readonly at: string;
  /** Stryker's name of the rule. */
  readonly mutator: string;
  readonly replacement: string;
  readonly fate: Fate;
  /** The file of the test that failed. */
  readonly by?: string;
}

export interface MutatedFile {
  /** SHA-256 of the source that was mutated. */
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

export type Report = Readonly<Record<string, MutatedFile>>;

/** A mutant that may live, by what the source says there: line numbers move. */
export interface Explanation {
  readonly file: string;
  /** The whole line where it begins, without what it is indented by. */
  readonly line: string;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  /**
   * How many places of the file it explains, where such a line stands more than once; 1 unless
   * given.
   */
  readonly places?: number;
  readonly why: string;
}

export interface Survivor extends Omit<Explanation, 'why' | 'places'> {
  readonly at: string;
}

/** Of all areas that were run on this machine. */
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

export function hashOf(file: string): string {
  return createHash('sha256')
    .update(readFileSync(path.join(root, file)))
    .digest('hex');
}

/** Whether the file is as it was when it was mutated. */
export function isCurrent(
  known: Readonly<Record<string, { readonly source: string }>>,
  file: string,
): boolean {
  return existsSync(path.join(root, file)) && known[file]?.source === hashOf(file);
}

/**
 * What lives of a file, with what its source says there. The source has to be the one that was
 * mutated.
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
 * What is wrong with a report, in words that say what to do; empty when nothing is. Says nothing of
 * files that it does not have.
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
