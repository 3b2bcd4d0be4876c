import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startApplication } from './application.ts';
import type { ApplicationDefinition } from './definition.ts';
import type { Application } from './started-application.ts';

let folder: string;
let register: NonNullable<ApplicationDefinition['register']>;
/** The hooks that have run, in order. */
let ran: string[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-closing-'));
  ran = [];
});
afterEach(() => rm(folder, { recursive: true }));

const start = (): Promise<Application> =>
  startApplication(
    {
      directory: folder,
      config: { public_url: 'https://app.example' },
      register: (application) => register(application),
    },
    { env: {} },
  );

const logged = () => readFile(path.join(folder, 'logs', 'app.log'), 'utf8');

function hook(name: string, failure?: Error): () => Promise<void> {
  return async () => {
    ran.push(name);
    if (failure !== undefined) throw failure;
  };
}

async function expectClosed(application: Application): Promise<void> {
  await expect(application.database.execute('SELECT 1')).rejects.toThrow('The database is closed');
  const before = await logged();
  application.log.error('a line after the end');
  expect(await logged()).toBe(before);
}

describe('closing an application', () => {
  test('runs every hook and closes the database and the log, even if a hook fails', async () => {
    const failure = new Error('the first hook');
    register = (application) => {
      application.onClose(hook('one', failure));
      application.onClose(hook('two'));
    };
    const application = await start();
    await application.database.execute('SELECT 1');
    await expect(application.close()).rejects.toBe(failure);
    expect(ran).toEqual(['one', 'two']);
    await expectClosed(application);
  });

  test('reports every hook that fails', async () => {
    const failures = [new Error('the first hook'), new Error('the second hook')];
    register = (application) => {
      for (const failure of failures) application.onClose(hook('one', failure));
    };
    const application = await start();
    await expect(application.close()).rejects.toMatchObject({
      message: 'Error: the first hook; Error: the second hook',
      errors: failures,
    });
    await expectClosed(application);
  });

  test('twice runs the hooks once', async () => {
    register = (application) => application.onClose(hook('one'));
    const application = await start();
    await Promise.all([application.close(), application.close()]);
    await application.close();
    expect(ran).toEqual(['one']);
  });
});

describe('a start that fails', () => {
  test('runs the hooks of the parts that have registered, and rejects with its own error', async () => {
    const failure = new Error('register failed');
    let begun: Application | null = null;
    register = (application) => {
      begun = application;
      application.onClose(hook('one', new Error('the first hook')));
      application.onClose(hook('two'));
      throw failure;
    };
    await expect(start()).rejects.toBe(failure);
    expect(ran).toEqual(['one', 'two']);
    expect(await logged()).toContain('A host hook failed: Error: the first hook');
    if (begun !== null) await expectClosed(begun);
    expect.assertions(5);
  });
});
