import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { askAboutApplication, askForNewFramework, askForUrls, newDatabase } from './answers.ts';
import { changesOf, makeChanges, type Change } from './changes.ts';
import {
  checkForShell,
  consoleCommands,
  install,
  installCommands,
  porticoPackages,
  runConsole,
  typed,
} from './commands.ts';
import { detect, isEmpty } from './detect.ts';
import { Failure } from './failure.ts';
import { NEW_FRAMEWORKS, type NewFramework } from './frameworks.ts';
import { HELP, readOptions, type Options } from './options.ts';
import { canLoadSource, planForApplication, planForNewApplication, type Plan } from './plan.ts';
import { Questions, type Streams } from './questions.ts';
import type { WrittenFile } from './templates/mounts.ts';
import { textOf } from './text-of.ts';

export type { Streams } from './questions.ts';

const PACKAGE = path.join(import.meta.dirname, '..');

/**
 * Adds Portico to an existing application, or creates a new application in an empty folder. `args`
 * contains the command-line arguments. Never overwrites a file. Resolves to the exit code: 0 if all
 * steps succeeded, 1 if a step failed, 2 if the input is invalid, 130 if the user canceled.
 *
 * @example
 * const code = await createPortico(['--yes', '--no-install'], {
 *   cwd: process.cwd(),
 *   input: process.stdin,
 *   stdout: (text) => process.stdout.write(text),
 *   stderr: (text) => process.stderr.write(text),
 * });
 */
export async function createPortico(args: readonly string[], streams: Streams): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.help === true) streams.stdout(HELP);
    else if (options.version === true) streams.stdout(`${ownVersion()}\n`);
    else await carryOut(options, streams);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    streams.stderr(`${error.message}\n`);
    return error.code;
  }
}

async function carryOut(options: Options, streams: Streams): Promise<void> {
  const folder = path.resolve(streams.cwd, options.folder);
  const questions = new Questions(streams, options.yes === true);
  const { plan, runs } = await decide(folder, options, questions).finally(() => questions.close());
  const about = { cwd: streams.cwd, version: ownVersion() };
  const packages = porticoPackages(plan.packages, options.portico, about);
  const [changes, installing] = [changesOf(plan), installCommands(plan, packages)];
  const showing = options['dry-run'] === true;
  streams.stdout(describe(changes, showing));
  const byHand = options['no-install'] === true || !runs;
  if (showing || byHand) {
    const commands = [...installing.map(typed), ...consoleCommands(plan)];
    if (!showing) makeChanges(folder, changes);
    streams.stdout(block(showing ? 'Commands:' : 'Run these commands:', commands));
  } else {
    installing.forEach(checkForShell);
    makeChanges(folder, changes);
    for (const command of installing) install(folder, command, streams);
    runConsole(plan, streams);
  }
  streams.stdout(ending(plan));
}

/**
 * Asks all questions, and returns the plan. `runs` is false if Portico's console cannot load the
 * application's source code.
 */
async function decide(folder: string, options: Options, questions: Questions) {
  const begun = isEmpty(folder) ? undefined : NEW_FRAMEWORKS.find((name) => isBegun(folder, name));
  if (isEmpty(folder) || begun !== undefined) {
    const framework = begun ?? (await askForNewFramework(options, questions));
    return { plan: await decideNew(folder, framework, options, questions), runs: true };
  }
  const detected = detect(folder);
  const answers = await askAboutApplication(detected, options, questions);
  const plan = planForApplication(detected, answers);
  const own = detected.manifest.portico?.app;
  if (own !== undefined && own !== plan.app)
    throw new Failure(
      `This application already uses Portico: package.json names ${own} as its application file. Nothing was written.`,
    );
  return { plan, runs: canLoadSource(detected) };
}

/** Whether an earlier run has created this application, and its files are still unchanged. */
function isBegun(folder: string, framework: NewFramework): boolean {
  return templatesOf(framework).every((file) => textOf(path.join(folder, file.path)) === file.text);
}

async function decideNew(
  folder: string,
  framework: NewFramework,
  options: Options,
  questions: Questions,
): Promise<Plan> {
  const urls = await askForUrls({}, options, questions, framework === 'kit' ? 8090 : 3000);
  const database = options.database === undefined ? undefined : newDatabase(options.database);
  const about = { ...urls, database, packageManager: 'npm' as const };
  return planForNewApplication(folder, framework, about, templatesOf);
}

/**
 * Returns the files of a new application. All frameworks except the kit use the same file
 * `users.ts`.
 */
function templatesOf(framework: NewFramework): readonly WrittenFile[] {
  const folder = path.join(PACKAGE, 'templates', 'new');
  const own = readdirSync(path.join(folder, framework)).map((name) => path.join(framework, name));
  return [...own, ...(framework === 'kit' ? [] : ['users.ts'])].map((file) => ({
    path: path.basename(file),
    text: readFileSync(path.join(folder, file), 'utf8'),
  }));
}

function ownVersion(): string {
  const text = readFileSync(path.join(PACKAGE, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

const VERBS = { create: 'create', append: 'append to', members: 'add "portico" to' } as const;

function describe(changes: readonly Change[], showing: boolean): string {
  const lines = changes.map(({ kind, path: file, text }) =>
    showing && kind === 'create' && !file.startsWith('.env')
      ? `${VERBS[kind]} ${file}\n\n${text.replaceAll(/^/gm, '    ').trimEnd()}\n`
      : `${VERBS[kind]} ${file}`,
  );
  const kept = changes.filter(({ path: file }) => file.endsWith('.portico.new'));
  return [
    block(showing ? 'Plan:' : 'Files:', lines.length === 0 ? ['nothing to write'] : lines),
    kept.length === 0
      ? ''
      : block(
          'Existing files stay unchanged. Compare each of them with its new version:',
          kept.map(({ path: file }) => file),
        ),
  ].join('');
}

function ending({ edits, next, url }: Plan): string {
  return [
    ...edits.map(({ where, lines }) => block(`Add to ${where}:`, lines)),
    block('Next:', [...next, `Then open ${url}`]),
  ].join('');
}

const block = (title: string, lines: readonly string[]) =>
  `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
