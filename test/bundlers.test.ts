// @engines sqlite: it bundles an application that uses SQLite alone
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-bundled-'));
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(ROOT, path.join(folder, 'node_modules', 'portico'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const APPLICATION = `
  import { defineApplication, startApplication } from 'portico/host';
  import { oauthServer } from 'portico/oauth-server';
  const application = await startApplication(
    defineApplication({
      config: {
        public_url: 'https://app.example',
        database_url: 'sqlite::memory:',
        oauth_server: { name: 'App', scopes: { a: 'A' } },
      },
      plugins: [oauthServer()],
    }),
  );
  await application.migrate();
  const answer = await application.fetch(new Request('https://app.example/oauth/authorize?client_id=x'));
  console.log(answer.status, (await answer.text()).includes('<!doctype html>'));
  await application.close();
`;

test('an application with Portico bundled in looks for no driver, and has its pages', async () => {
  await writeFile(path.join(folder, 'app.js'), APPLICATION);
  const warnings: unknown[] = [];
  const bundled = await rolldown({
    input: path.join(folder, 'app.js'),
    cwd: folder,
    platform: 'node',
    onLog: (level, log) => warnings.push([level, log.message]),
  });
  const { output } = await bundled.write({ dir: path.join(folder, 'out') });
  await bundled.close();
  expect(warnings).toEqual([]);
  // Nothing but Node's own is left to be found.
  const imported = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : []));
  const own = output.map(({ fileName }) => fileName);
  expect(imported.filter((name) => !name.startsWith('node:') && !own.includes(name))).toEqual([]);
  const { stdout } = await run(process.execPath, [path.join(folder, 'out', 'app.js')], { cwd: folder });
  expect(stdout).toBe('400 true\n');
});
