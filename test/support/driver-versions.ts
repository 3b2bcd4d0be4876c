import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type mysql from 'mysql2/promise';
import type pg from 'pg';
import type * as host from '@portico/sql';
import { ROOT } from './console.ts';

/** Portico in an application whose drivers have other versions than those of the tests. */
export interface OtherInstallation {
  readonly host: typeof host;
  /** The drivers that the application imports. */
  readonly pg: typeof pg;
  readonly mysql: typeof mysql;
  /** The application's folder. */
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Installs Portico with the oldest drivers that it supports. `changes` modify the package.json of a
 * driver.
 */
export async function installWithFloor(
  changes: { readonly [name in 'pg' | 'mysql2']?: object } = {},
): Promise<OtherInstallation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-drivers-'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  // Node finds the drivers in this folder before it finds those of the tests.
  const application = path.join(folder, 'application');
  const modules = path.join(application, 'node_modules');
  const sql = path.join(modules, '@portico', 'sql');
  const installed = {
    sql,
    portico: path.join(modules, 'portico'),
    kit: path.join(modules, '@portico', 'kit'),
  };
  for (const [name, to] of Object.entries(installed))
    for (const part of ['dist', 'bin', 'package.json'])
      if (existsSync(path.join(ROOT, 'packages', name, part)))
        await cp(path.join(ROOT, 'packages', name, part), path.join(to, part), { recursive: true });
  for (const name of ['pg', 'mysql2'] as const) {
    await cp(path.join(ROOT, 'node_modules', `${name}-floor`), path.join(modules, name), {
      recursive: true,
    });
    const manifest = path.join(modules, name, 'package.json');
    const found = JSON.parse(await readFile(manifest, 'utf8')) as object;
    await writeFile(manifest, JSON.stringify({ ...found, ...changes[name] }));
  }
  const require = createRequire(path.join(application, 'app.js'));
  const entry = pathToFileURL(path.join(sql, 'dist', 'index.js')).href;
  return {
    host: (await import(entry)) as typeof host,
    pg: require('pg') as typeof pg,
    mysql: require('mysql2/promise') as typeof mysql,
    folder: application,
    remove: () => rm(folder, { recursive: true }),
  };
}
