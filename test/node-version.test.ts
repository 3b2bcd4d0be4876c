// @engines sqlite: the application ends before it loads a database
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGES } from '../tools/scripts/packages.ts';
import { ROOT } from './support/console.ts';
import { describeWith } from './support/describe-with.ts';
import { programOf } from './support/extras.ts';

/** The lines that describe the problem, without the place and the stack around them. */
const SENTENCE = /^(?:Error: )?(Portico (?:requires|needs) Node 24\.7 or later; this is [^\n]*)$/m;

describeWith('npm')('an application on an older Node', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-old-node-'));
    const versions = ['old20@npm:node@20.20.2', 'old22@npm:node@22.20.0'];
    const args = ['install', '--no-audit', '--no-fund', '--prefix', folder, ...versions];
    execFileSync(programOf('npm'), args, { stdio: 'ignore' });
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // @shows HOST-5.7
  test.each(['20', '22'])(
    'every entry point and the console report that Node %s is required',
    (major) => {
      const node = path.join(folder, 'node_modules', `old${major}`, 'bin', 'node');
      const run = (...args: readonly string[]) => {
        const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8' });
        return [status === 0, stdout, SENTENCE.exec(stderr)?.[1]?.includes(`${major}.`) ?? stderr];
      };
      const entries = PACKAGES.flatMap(({ directory, entries: own }) =>
        own.map(({ module }) => path.join(directory, 'dist', `${module}.js`)),
      );
      expect(entries.length).toBeGreaterThan(10);
      for (const file of entries) {
        const entry = path.relative(ROOT, file);
        expect([
          entry,
          ...run('--input-type=module', '-e', `import ${JSON.stringify(file)}`),
        ]).toEqual([entry, false, '', true]);
        const required = file.replace(/js$/, 'cjs');
        expect([entry, ...run('-e', `require(${JSON.stringify(required)})`)]).toEqual([
          entry,
          false,
          '',
          true,
        ]);
      }
      expect(run(path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve')).toEqual([
        false,
        '',
        true,
      ]);
    },
    120_000,
  );
});
