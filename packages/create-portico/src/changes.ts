// Turns a plan into file changes, and applies them. Never overwrites a file.
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { settingsOf } from './detect.ts';
import { Failure } from './failure.ts';
import type { Plan } from './plan.ts';
import { textOf } from './text-of.ts';

/** A change to one file. Paths are relative to the application's folder. */
export type Change =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly text: string;
      readonly mode?: number;
    }
  | { readonly kind: 'append'; readonly path: string; readonly text: string }
  | {
      readonly kind: 'members';
      readonly path: string;
      readonly text: string;
      readonly before: string;
    };

/** Returns the changes that are still needed. Returns an empty list after a complete run. */
export function changesOf(plan: Plan): readonly Change[] {
  const files = plan.files.flatMap(({ path: file, text }): readonly Change[] => {
    const present = textOf(path.join(plan.folder, file));
    if (present === text) return [];
    if (present === null) return [{ kind: 'create', path: file, text }];
    return besides(plan.folder, file, text);
  });
  return [...files, ...manifestChange(plan), ...ignoreChange(plan), ...envChange(plan)];
}

/**
 * Keeps the existing file, and returns the change that creates another file with the new text in
 * the same folder.
 */
function besides(folder: string, file: string, text: string): readonly Change[] {
  const beside = `${file}.portico.new`;
  const present = textOf(path.join(folder, beside));
  if (present === text) return [];
  if (present === null) return [{ kind: 'create', path: beside, text }];
  throw new Failure(
    `${beside} already exists with different content. Remove this file, and run npm create portico again. Nothing was written.`,
  );
}

function manifestChange({ folder, manifest }: Plan): readonly Change[] {
  const before = textOf(path.join(folder, 'package.json'));
  if (before === null) {
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    return [{ kind: 'create', path: 'package.json', text }];
  }
  const value = JSON.parse(before) as Readonly<Record<string, unknown>>;
  const missing = Object.entries(manifest).filter(([name]) => !(name in value));
  if (missing.length === 0) return [];
  const [, indent = '  '] = /\n([ \t]+)"/.exec(before) ?? [];
  const text = JSON.stringify({ ...value, ...Object.fromEntries(missing) }, null, indent);
  const end = before.endsWith('\n') ? '\n' : '';
  return [{ kind: 'members', path: 'package.json', text: `${text}${end}`, before }];
}

function ignoreChange({ folder, ignored }: Plan): readonly Change[] {
  const present = textOf(path.join(folder, '.gitignore'));
  const lines = (present ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\//, ''));
  const covers = (name: string) =>
    lines.some((line) => line === name || line === name.replace(/\/$/, '')) ||
    (name.startsWith('.env') && lines.includes('.env*')) ||
    (name.startsWith('.env.') && lines.includes('.env.*'));
  return added(
    '.gitignore',
    present,
    ignored.filter((name) => !covers(name)),
  );
}

function envChange({ folder, env: { file, values } }: Plan): readonly Change[] {
  const present = textOf(path.join(folder, file));
  const set = settingsOf(folder);
  const missing = values.filter(([name]) => !(name in set));
  return added(
    file,
    present,
    missing.map(([name, value]) => setting(name, value)),
  );
}

/** Returns a line for `.env` from which Node reads exactly this value. */
function setting(name: string, value: string): string {
  if (/^[\w:/.@%+=-]*$/.test(value)) return `${name}=${value}`;
  const line = [`'`, '"', '`']
    .filter((quote) => !value.includes(quote))
    .map((quote) => `${name}=${quote}${value}${quote}`)
    .find((each) => parseEnv(each)[name] === value);
  if (line !== undefined) return line;
  throw new Failure(
    `The value of ${name} contains either \\n or all of ', " and \`. A .env file cannot contain such a value. In a URL, write %27 for ', %22 for ", %60 for \`, and %5C for \\. Nothing was written.`,
  );
}

function added(file: string, present: string | null, lines: readonly string[]): readonly Change[] {
  if (lines.length === 0) return [];
  const text = `${lines.join('\n')}\n`;
  if (present === null)
    return [
      { kind: 'create', path: file, text, ...(file === '.gitignore' ? {} : { mode: 0o600 }) },
    ];
  const separator = present === '' || present.endsWith('\n') ? '' : '\n';
  return [{ kind: 'append', path: file, text: `${separator}${text}` }];
}

/** Makes all changes or none. If a change fails, reverts the earlier changes. */
export function makeChanges(folder: string, changes: readonly Change[]): void {
  const undo: (() => void)[] = [];
  try {
    for (const change of changes) makeChange(path.join(folder, change.path), change, undo);
  } catch (error) {
    const left = undo.toReversed().flatMap(problemOf);
    const state =
      left.length === 0 ? 'Nothing was changed.' : `Undo this yourself:\n${left.join('\n')}`;
    throw new Failure(`${(error as Error).message}\n${state}`, 1);
  }
}

/**
 * Reverts one change. If this fails, returns the error message instead of throwing, so that the
 * caller can still revert the other changes.
 */
function problemOf(step: () => void): readonly string[] {
  try {
    step();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function makeChange(file: string, change: Change, undo: (() => void)[]): void {
  if (change.kind === 'create') {
    makeFolder(path.dirname(file), undo);
    // Open the file with `wx`, which fails if the file exists. An existing file is never
    // overwritten.
    const descriptor = openSync(file, 'wx', change.mode ?? 0o666);
    undo.push(() => rmSync(file));
    try {
      writeFileSync(descriptor, change.text);
    } finally {
      closeSync(descriptor);
    }
  } else if (change.kind === 'append') {
    const { size } = statSync(file);
    undo.push(() => truncateSync(file, size));
    appendFileSync(file, change.text);
  } else {
    if (readFileSync(file, 'utf8') !== change.before)
      throw new Error(`Another program changed ${change.path} while create-portico was running.`);
    undo.push(() => writeFileSync(file, change.before));
    writeFileSync(file, change.text);
  }
}

/** Creates a folder and its missing parent folders. */
function makeFolder(folder: string, undo: (() => void)[]): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder), undo);
  mkdirSync(folder);
  undo.push(() => rmdirSync(folder));
}
