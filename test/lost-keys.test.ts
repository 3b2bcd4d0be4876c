// @engines sqlite: keys are files, and of the store it is asked whether authorizations live
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { ADA, obtainTokens, registerClient, startPortal } from './support/portal.ts';

const FOLDER = path.join(ROOT, 'examples', 'portal');

// @shows AS-11.21
test('where people have allowed applications that were given ID tokens, setup makes no key in the place of one that is lost', async () => {
  const portal = await startPortal();
  const run = (...args: string[]) => porticoHere(args, { cwd: FOLDER, env: portal.env });
  const { key_path: directory } = portal.server.config;
  try {
    const client = await registerClient(portal);
    await rename(directory, `${directory}-away`);
    await mkdir(directory, { mode: 0o700 });
    // Nobody has an ID token yet.
    expect(await run('oauth:server:setup')).toMatchObject({ code: 0 });
    await rename(directory, `${directory}-unused`);
    await rename(`${directory}-away`, directory);
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    await rename(directory, `${directory}-away`);
    await mkdir(directory, { mode: 0o700 });
    const refused = await run('oauth:server:setup');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Bring its directory back') as string,
    });
    expect(await readdir(directory)).toEqual([]);
    const generated = await run('oauth:keys:generate');
    expect(generated).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('There was no key') as string,
    });
    expect(await readdir(directory)).toHaveLength(1);
    // With a key it is as ever.
    expect(await run('oauth:server:setup')).toMatchObject({ code: 0 });
    expect(await run('oauth:keys:generate')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    await portal.close();
  }
});
