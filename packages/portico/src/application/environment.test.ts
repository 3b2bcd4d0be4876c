import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { lendEnvironment, loadEnvironment, takeEnvironmentBack } from './environment.ts';

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

describe('the environment that an application lends to the process', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-env-'));
    process.env['PORTICO_TEST_SET'] = 'set';
  });
  afterEach(() => {
    takeEnvironmentBack();
    for (const name of ['PORTICO_TEST_SET', 'PORTICO_TEST_ONE', 'PORTICO_TEST_TWO'])
      Reflect.deleteProperty(process.env, name);
    rmSync(folder, { recursive: true });
  });
  const lend = (text: string) => {
    writeFileSync(path.join(folder, '.env'), text);
    lendEnvironment(folder);
  };
  const values = () =>
    ['PORTICO_TEST_SET', 'PORTICO_TEST_ONE', 'PORTICO_TEST_TWO'].map((name) => process.env[name]);

  test('keeps variables that are set, and ends when it is taken back', () => {
    lend('PORTICO_TEST_SET=other\nPORTICO_TEST_ONE=1\n');
    expect(values()).toEqual(['set', '1', undefined]);
    takeEnvironmentBack();
    expect(values()).toEqual(['set', undefined, undefined]);
  });

  test('is replaced by that of the next application', () => {
    lend('PORTICO_TEST_ONE=1\n');
    lend('PORTICO_TEST_TWO=2\n');
    expect(values()).toEqual(['set', undefined, '2']);
  });

  test('is not part of the environment of another application', () => {
    lend('PORTICO_TEST_ONE=1\nPORTICO_TEST_TWO=2\n');
    process.env['PORTICO_TEST_TWO'] = 'changed';
    const other = mkdtempSync(path.join(tmpdir(), 'portico-env-'));
    onTestFinished(() => rmSync(other, { recursive: true }));
    const found = loadEnvironment(other);
    expect([
      found['PORTICO_TEST_ONE'],
      found['PORTICO_TEST_TWO'],
      found['PORTICO_TEST_SET'],
    ]).toEqual([undefined, 'changed', 'set']);
    takeEnvironmentBack();
    expect(values()).toEqual(['set', undefined, 'changed']);
    expect(loadEnvironment(other)['PORTICO_TEST_TWO']).toBe('changed');
  });
});
