import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** How many minutes a run may take before it is ended. It is CI_LIMIT, or 75. */
const LIMIT = Number(process.env['CI_LIMIT'] ?? 75);
/** How many of the slowest files are listed at the end. */
const NAMED = 25;

/**
 * Ends a run that hangs, and says where it hangs. CI's own limit would end it without a message,
 * and Vitest prints a file only when it is done. At the end, the slowest files are listed, so that
 * you see a change that makes CI slow.
 */
export default class UnfinishedReporter implements Reporter {
  readonly #began = performance.now();
  readonly #files = new Map<string, number>();
  readonly #tests = new Map<string, number>();
  readonly #took: (readonly [file: string, seconds: number])[] = [];
  readonly #timer = setTimeout(() => this.#giveUp(), LIMIT * 60_000);

  onInit(): void {
    this.#timer.unref();
  }

  onTestModuleQueued(file: TestModule): void {
    this.#files.set(nameOf(file), performance.now());
  }

  onTestCaseReady(test: TestCase): void {
    this.#tests.set(titleOf(test), performance.now());
  }

  onTestCaseResult(test: TestCase): void {
    this.#tests.delete(titleOf(test));
  }

  onTestModuleEnd(file: TestModule): void {
    this.#took.push([nameOf(file), seconds(this.#files.get(nameOf(file)) ?? performance.now())]);
    this.#files.delete(nameOf(file));
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer);
    const longest = this.#took.toSorted(([, one], [, other]) => other - one).slice(0, NAMED);
    say('The files that took longest, in seconds:', longest);
    print(`The run took ${seconds(this.#began)} s.`);
  }

  #giveUp(): void {
    say(`After ${LIMIT} minutes these files are not through, in seconds:`, since(this.#files));
    say('These tests run, in seconds:', since(this.#tests));
    process.exit(1);
  }
}

const seconds = (since: number) => Math.round((performance.now() - since) / 1000);
const nameOf = (file: TestModule) => `${file.project.name} ${file.relativeModuleId}`;
const titleOf = (test: TestCase) => `${nameOf(test.module)} > ${test.fullName}`;
const since = (began: ReadonlyMap<string, number>) =>
  [...began].map(([name, at]): readonly [string, number] => [name, seconds(at)]);

function say(heading: string, lines: readonly (readonly [name: string, seconds: number])[]): void {
  print(`\n${heading}`);
  for (const [name, took] of lines) print(`${String(took).padStart(6)}  ${name}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
