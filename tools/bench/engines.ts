// `npm run bench` runs everything on SQLite and on PostgreSQL, and stores both results. It uses the
// PostgreSQL server in DATABASE_URL, or starts the installed one. Options are those of `run.ts`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { POSTGRES } from '../../test/support/engines/database-server.ts';

const given = process.env['DATABASE_URL'];
run({ DATABASE_URL: undefined });
const started = given === undefined ? await POSTGRES.start() : null;
try {
  // The tests run without fsync, but a measured server must wait for its disk.
  await started?.end();
  await started?.restart('-c', 'fsync=on');
  run({ DATABASE_URL: given ?? started?.url });
} finally {
  await started?.close();
}

function run(env: NodeJS.ProcessEnv): void {
  const program = path.join(import.meta.dirname, 'dist', 'run.js');
  const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
