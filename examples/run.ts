// `npm run example -- next` runs this file. It installs an example that has its own package.json in
// a separate folder, and starts it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openUsers } from './express/users.ts';
import { installExample } from './install.ts';

const names = globSync('*/package.json', { cwd: import.meta.dirname }).map((file) =>
  path.dirname(file),
);
const [name = ''] = process.argv.slice(2);
if (!names.includes(name)) {
  process.stderr.write(`npm run example -- <one of ${names.toSorted().join(', ')}>\n`);
  process.exit(1);
}

async function npm(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = spawn('npm', args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0 && signal === null) throw new Error(`npm ${args.join(' ')} ended with ${code}`);
}

// Ctrl+C also reaches the application. This process waits until the application has ended.
process.on('SIGINT', () => undefined);
const folder = await installExample(name, npm);
try {
  const storage = path.join(folder, 'storage');
  mkdirSync(storage, { recursive: true });
  openUsers(path.join(storage, 'users.sqlite')).close();
  const port = process.env['PORT'] ?? '8080';
  const url = `http://localhost:${port}`;
  const env = {
    NODE_ENV: 'production',
    APP_ENV: 'dev',
    HOST: 'localhost',
    PORT: port,
    PUBLIC_URL: url,
    STORAGE_DIR: storage,
    DATABASE_URL: `sqlite:${path.join(storage, 'portico.sqlite')}`,
    SESSION_SECRET: randomBytes(32).toString('hex'),
  };
  await npm(folder, ['run', 'setup'], env);
  process.stdout.write(`${url}/login: sign in as ada@example.com with the password portico\n`);
  await npm(folder, ['run', 'start'], env);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
