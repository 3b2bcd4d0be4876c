import path from 'node:path';
import { porticoHere, ROOT } from './console.ts';

/** The options and arguments of a command, as its `--help` lists them. */
interface CommandHelp {
  /** The options by name, with the number of values that follow each. */
  readonly options: ReadonlyMap<string, number>;
  readonly required: number;
  /** The maximum number of arguments. Infinity if the last one can be repeated. */
  readonly most: number;
}

const APPLICATIONS = [
  'examples/portal',
  'examples/assistant',
  'test/fixtures/configured-portal',
] as const;

/**
 * The commands of several applications. One has accounts, one has tools, and one has the features
 * that are separate packages. Reads the help of each command once.
 */
export class ConsoleHelp {
  readonly #storage: string;
  readonly #applications = new Map<string, string>();
  readonly #commands = new Map<string, Promise<CommandHelp>>();

  private constructor(storage: string) {
    this.#storage = storage;
  }

  /** Reads the help. The applications may write to the directory `storage`. */
  static async ask(storage: string): Promise<ConsoleHelp> {
    const help = new ConsoleHelp(storage);
    for (const application of APPLICATIONS) {
      const text = await help.#read(application, []);
      for (const [, name = ''] of text
        .split('\nCommands:\n')[1]
        ?.matchAll(/^ {2}([a-z][\w:-]*)/gm) ?? [])
        if (!help.#applications.has(name)) help.#applications.set(name, application);
    }
    return help;
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#applications.keys());
  }

  /** Returns what is wrong with the words after `npx portico`, or null. */
  async problemOf(words: readonly string[]): Promise<string | null> {
    const [name = '', ...args] = withoutGlobalOptions(words);
    if (name === '' || name === '--help' || name === '--version') return null;
    const application = this.#applications.get(name);
    if (application === undefined) return `there is no command ${name}`;
    let help = this.#commands.get(name);
    if (help === undefined) this.#commands.set(name, (help = this.#helpOf(application, name)));
    return problemOfArguments(await help, args);
  }

  async #helpOf(application: string, name: string): Promise<CommandHelp> {
    const text = await this.#read(application, [name]);
    const positional = /^Usage: portico \S+(?: \[options\])?(.*)$/m.exec(text)?.[1]?.trim() ?? '';
    const all = positional === '' ? [] : positional.split(' ');
    const listed = text.split('\nOptions:\n')[1] ?? '';
    const options = [
      ...listed.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)((?: <[^>]+>| \[[^\]]+\])*)/gm),
    ].map(
      ([, option = '', values = '']) =>
        [option, values.includes('...') ? Infinity : values.split('<').length - 1] as const,
    );
    return {
      options: new Map(options),
      required: all.filter((each) => each.startsWith('<')).length,
      most: all.some((each) => each.includes('...')) ? Infinity : all.length,
    };
  }

  async #read(application: string, args: readonly string[]): Promise<string> {
    const cwd = path.join(ROOT, application);
    const { stdout } = await porticoHere([...args, '--help'], {
      cwd,
      env: { STORAGE_DIR: this.#storage },
    });
    return stdout;
  }
}

function withoutGlobalOptions(words: readonly string[]): readonly string[] {
  const [first, , ...rest] = words;
  if (first === '--app' || first === '--config') return withoutGlobalOptions(rest);
  return first?.startsWith('--app=') === true ? withoutGlobalOptions(words.slice(1)) : words;
}

function problemOfArguments(help: CommandHelp, args: readonly string[]): string | null {
  let positional = 0;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('--')) {
      // A variable may be empty, or contain options.
      if (!word.startsWith('$')) positional += 1;
      continue;
    }
    const [option = '', value] = word.split('=');
    const values = help.options.get(option);
    if (values === undefined) return `it has no option ${option}`;
    if (values === 0 && value !== undefined) return `${option} takes no value`;
    for (let left = value === undefined ? values : 0; left > 0 && isValue(args[at + 1]); left -= 1)
      at += 1;
  }
  if (positional < help.required)
    return `${help.required} arguments are needed, and there are ${positional}`;
  return positional > help.most
    ? `${help.most} arguments at most, and there are ${positional}`
    : null;
}

const isValue = (word: string | undefined) => word !== undefined && !word.startsWith('--');
