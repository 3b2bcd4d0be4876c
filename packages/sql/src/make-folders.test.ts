import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFolders } from './make-folders.ts';

let around: string;
beforeEach(() => void (around = mkdtempSync(path.join(tmpdir(), 'portico-folders-'))));
afterEach(() => rmSync(around, { recursive: true }));
const failing = (code: string) => expect.objectContaining({ code }) as unknown;
const caught = (call: () => void): unknown => {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
};

describe('a folder', () => {
  test('is created with its missing parents, all with the same mode', () => {
    const folder = path.join(around, 'one', 'two', 'three');
    makeFolders(folder, 0o700);
    for (let each = folder; each !== around; each = path.dirname(each))
      expect(statSync(each).mode & 0o777).toBe(0o700);
    makeFolders(folder, 0o750);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('may be there, also as a link or as the root', () => {
    symlinkSync(around, path.join(around, 'link'));
    makeFolders(path.join(around, 'link'));
    makeFolders(path.join(around, 'link', 'one'));
    expect(statSync(path.join(around, 'one')).isDirectory()).toBe(true);
    makeFolders('/');
  });

  test('cannot replace a file or a link to nothing, or be below a file', () => {
    const file = path.join(around, 'file');
    writeFileSync(file, '');
    expect(caught(() => makeFolders(file))).toEqual(failing('EEXIST'));
    expect(caught(() => makeFolders(path.join(file, 'one')))).toEqual(failing('ENOTDIR'));
    symlinkSync(path.join(around, 'missing'), path.join(around, 'link'));
    expect(caught(() => makeFolders(path.join(around, 'link')))).toEqual(failing('EEXIST'));
  });

  test('below /proc fails, and does not run forever', () => {
    expect(caught(() => makeFolders('/proc/portico/one'))).toEqual(failing('ENOENT'));
  });
});
