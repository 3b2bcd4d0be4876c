import fs from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/**
 * Changes parts of Node until the test ends, for situations that not every user can create: a full
 * disk, a file that belongs to another user, or a process that acts between two steps.
 */

type Promises = typeof fs.promises;
type Sync = typeof fs;
type Call = (...args: never[]) => unknown;

/** Replaces a function of `node:fs/promises`. `make` receives the original function. */
export function changeFile<
  Name extends 'link' | 'lstat' | 'readdir' | 'rename' | 'stat' | 'unlink',
>(name: Name, make: (original: Promises[Name]) => Call): void {
  replace(fs.promises, name, make as never);
}

/** Replaces a synchronous function of `node:fs`. `make` receives the original function. */
export function changeFileSync<Name extends 'fchownSync' | 'fstatSync'>(
  name: Name,
  make: (original: Sync[Name]) => Call,
): void {
  replace(fs, name, make as never);
}

/** Makes this process appear to run as this user. Undefined means a system without user ids. */
export function actAs(uid: number | undefined): void {
  const before = Object.getOwnPropertyDescriptor(process, 'geteuid');
  const value = uid === undefined ? undefined : () => uid;
  Object.defineProperty(process, 'geteuid', { configurable: true, writable: true, value });
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(process, 'geteuid');
    else Object.defineProperty(process, 'geteuid', before);
  });
}

/** Replaces a method of open files and folders. `instead` is told whether it is a folder. */
export async function changeOpenFiles(
  name: 'sync' | 'writeFile',
  instead: (isFolder: boolean) => void | Promise<void>,
): Promise<void> {
  const handle = await open(import.meta.dirname);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  // Both methods are replaced by a function without arguments.
  const spy = vi.spyOn(prototype, name as 'sync');
  spy.mockImplementation(async function changed(this: FileHandle) {
    await instead((await this.stat()).isDirectory());
  });
  onTestFinished(() => spy.mockRestore());
}

/**
 * Stops the monotonic clock (`performance.now()`). Only a wait with `node:timers/promises`, or the
 * test, moves it. Such a wait ends at once.
 */
export function stopTime(): { readonly now: () => number; readonly advance: (ms: number) => void } {
  let now = performance.now() + 1_000_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  replace(timers, 'setTimeout', () => async (milliseconds: number) => void (now += milliseconds));
  return { now: () => now, advance: (milliseconds) => void (now += milliseconds) };
}

/** An error of the operating system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made by a test`), { code, syscall: 'test' });
}

function replace<Owner extends object>(
  owner: Owner,
  name: keyof Owner,
  make: (original: Call) => Call,
): void {
  const original = owner[name];
  owner[name] = make(original as unknown as Call) as never;
  syncBuiltinESMExports();
  onTestFinished(() => {
    owner[name] = original;
    syncBuiltinESMExports();
  });
}
