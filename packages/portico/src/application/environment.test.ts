import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadEnvironment } from './environment.ts';

describe('the environment of an application', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-env-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

  test('is read from .env', () => {
    write('.env', 'A=1\nB="two words" # said\n');
    expect(loadEnvironment(folder, {})).toEqual({ A: '1', B: 'two words' });
  });
  // @shows HOST-1.2
  test('is read from .env.local instead of .env if both exist', () => {
    write('.env', 'A=1\nB=2\n');
    write('.env.local', 'A=local\n');
    expect(loadEnvironment(folder, {})).toEqual({ A: 'local' });
  });
  // @shows HOST-1.2
  test('prefers the values of the process environment', () => {
    write('.env', 'A=1\nB=2\n');
    expect(loadEnvironment(folder, { A: 'own' })).toEqual({ A: 'own', B: '2' });
  });
  test('is not written into the process environment', () => {
    write('.env', 'PORTICO_TEST_VALUE=1\n');
    loadEnvironment(folder);
    expect(process.env['PORTICO_TEST_VALUE']).toBeUndefined();
  });
});
