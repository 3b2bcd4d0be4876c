// @engines sqlite, long: it installs Next, and builds with it
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installExample } from '../../examples/install.ts';
import { holdStack, npm } from '../support/stacks.ts';

holdStack({
  name: 'Next',
  folder: 'next',
  hashed: /^\$argon2id\$/,
  normalises: true,
  foreignForm: 403,
  formPath: '/login/submit',
  parsesJson: false,
});

test('a standalone build does not contain the databases and the log of the project', async () => {
  const folder = await installExample('next', async (cwd, args) => {
    if (args.includes('build'))
      for (const file of ['storage/app.sqlite', 'storage/users.sqlite', 'logs/app.log']) {
        await mkdir(path.join(cwd, path.dirname(file)), { recursive: true });
        await writeFile(path.join(cwd, file), 'secret');
      }
    return npm(cwd, args);
  });
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const built = await readdir(path.join(folder, '.next', 'standalone'));
  expect(built).toContain('server.js');
  expect(built).not.toContain('storage');
  expect(built).not.toContain('logs');
});
