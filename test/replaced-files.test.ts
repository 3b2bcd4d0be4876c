// @engines sqlite: the database makes no difference
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { freePort } from './support/free-port.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

let portal: RunningPortal;
let port: string;
let running: RunningProcess;
beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());

const CONFIG = { oauth_server: { audit: { keep: true, retention_days: 30 }, openapi: true } };

/**
 * A process that loads this module finds no more files of the packages after SIGUSR2. After the
 * next SIGUSR2, it finds them again.
 */
const REMOVE_FILES = `
  import { registerHooks } from 'node:module';
  let areGone = false;
  process.on('SIGUSR2', () => {
    areGone = !areGone;
    console.error(areGone ? 'The files are gone' : 'The files are back');
  });
  registerHooks({
    load(url, context, next) {
      if (areGone && url.includes('/dist/')) throw new Error('The file is gone: ' + url);
      return next(url, context);
    },
  });
`;

beforeEach(async () => {
  port = String(await freePort());
  running = start(
    [path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve', '--port', port],
    {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: {
        ...portal.env,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REMOVE_FILES)}`,
        PUBLIC_URL: portal.url,
        PORTAL_CONFIG: JSON.stringify(CONFIG),
      },
    },
  );
  await running.says('Listening on');
  running.process.kill('SIGUSR2');
  await running.says('The files are gone');
  return () => running.stop('SIGTERM');
});

// @shows HOST-5.2, AS-19.6
test('a running server keeps its first audit event after a deployment removed its files', async () => {
  const { status } = await fetch(`http://127.0.0.1:${port}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('unknown:wrong')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  expect(status).toBe(401);
  const { items } = await portal.server.audit.list();
  expect(items.map(({ type }) => type)).toEqual(['client_authentication_failed']);
});

test('the OpenAPI description is loaded again after its files could not be read', async () => {
  const describe = async () => (await fetch(`http://127.0.0.1:${port}/oauth/openapi.json`)).status;
  expect(await describe()).toBe(500);
  running.process.kill('SIGUSR2');
  await running.says('The files are back');
  expect(await describe()).toBe(200);
});
