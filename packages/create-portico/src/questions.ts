import { createInterface } from 'node:readline/promises';
import { Failure } from './failure.ts';

/** The program's input and output, and its working directory. */
export interface Streams {
  /** The absolute path of the working directory. */
  readonly cwd: string;
  /** The stream with the user's answers, one per line. Not read with `--yes`. */
  readonly input: NodeJS.ReadableStream;
  /** Prints questions, the plan, and the output of commands. */
  readonly stdout: (text: string) => unknown;
  /** Prints errors. */
  readonly stderr: (text: string) => unknown;
}

/** A question with a default answer. `check` returns the problem with an answer, or null. */
export interface Question {
  readonly text: string;
  readonly initial: string;
  readonly check: (answer: string) => string | null;
}

/** Asks questions on the terminal. With `--yes`, uses the default answers instead. */
export class Questions {
  readonly #streams: Streams;
  readonly #silent: boolean;
  readonly #lines: NodeJS.AsyncIterator<string> | null;
  readonly #close: () => void;

  constructor(streams: Streams, silent: boolean) {
    this.#streams = streams;
    this.#silent = silent;
    const reader = silent ? null : createInterface({ input: streams.input });
    this.#lines = reader?.[Symbol.asyncIterator]() ?? null;
    this.#close = () => reader?.close();
  }

  /**
   * Returns the answer from the command-line options, or asks for an answer. Throws a `Failure` if
   * the option's value is invalid.
   */
  async ask(question: Question, given: string | undefined): Promise<string> {
    const fixed = given ?? (this.#silent ? question.initial : undefined);
    if (fixed !== undefined) {
      const problem = question.check(fixed);
      if (problem !== null) throw new Failure(problem);
      return fixed;
    }
    for (;;) {
      const answer =
        (await this.#read(`${question.text} (${question.initial}): `)) || question.initial;
      const problem = question.check(answer);
      if (problem === null) return answer;
      this.#streams.stdout(`${problem}\n`);
    }
  }

  async #read(text: string): Promise<string> {
    this.#streams.stdout(text);
    const line = await this.#lines?.next();
    if (line === undefined || line.done === true)
      throw new Failure('\nCancelled. Nothing was written. To skip the questions, use --yes.', 130);
    return line.value.trim();
  }

  close(): void {
    this.#close();
  }
}
