// @engines all: it starts and kills processes
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { freePort } from './support/free-port.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { RUNS_ALL } from './support/scale.ts';

/** `serve --workers`: several processes answer on one port. */

let portal: RunningPortal;
let port: string;
let running: RunningProcess;

beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());
afterEach(async () => {
  if (running.process.exitCode === null && running.process.signalCode === null)
    await running.stop('SIGTERM');
});

/** After SIGUSR2, a process that loads this module cannot start others for two seconds. */
const CANNOT_FORK = `
  import { setTimeout } from 'node:timers/promises';
  const { execPath } = process;
  process.on('SIGUSR2', async () => {
    process.execPath = '/nowhere/node';
    await setTimeout(2000);
    process.execPath = execPath;
  });
`;

/** The first worker that loads this module starts three seconds later. */
const STARTS_SLOWLY = `
  import cluster from 'node:cluster';
  import { setTimeout } from 'node:timers/promises';
  if (cluster.worker?.id === 1) await setTimeout(3000);
`;

const serve = (...options: readonly string[]) => serveImporting(CANNOT_FORK, options);

async function serveImporting(module: string, options: readonly string[]): Promise<void> {
  port = String(await freePort());
  running = start(
    [path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve', ...options],
    {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: {
        ...portal.env,
        NODE_OPTIONS: importing(module),
        PORT: port,
        PUBLIC_URL: portal.url,
        PORTAL_CONFIG: '{}',
      },
    },
  );
}

function importing(module: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(module)}`;
}

async function serveWith(...options: readonly string[]): Promise<void> {
  await serve(...options);
  await running.says('workers are running. To replace them');
}

/** The processes that a process has started. */
function children(pid = running.process.pid ?? 0): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Sends a request, by default on a new connection. Returns the status, or the error's code. */
function ask(at = '/.well-known/jwks.json', agent = new Agent()): Promise<number | string> {
  return new Promise((resolve) => {
    get(`http://127.0.0.1:${port}${at}`, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', (error: Error & { code?: string }) => resolve(error.code ?? 'error'));
    }).on('error', (error: Error & { code?: string }) => resolve(error.code ?? 'error'));
  });
}

/** Sends requests, eight at a time, until the work is done. Returns how each of them ended. */
async function askDuring(
  work: () => Promise<unknown>,
  at?: string,
  agent?: Agent,
): Promise<ReadonlyMap<unknown, number>> {
  const found = new Map<unknown, number>();
  const done = new AbortController();
  const asking = async () => {
    while (!done.signal.aborted) {
      const outcome = await ask(at, agent);
      found.set(outcome, (found.get(outcome) ?? 0) + 1);
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, asking));
  try {
    await work();
  } finally {
    done.abort();
    await all;
  }
  return found;
}

describe('serve --workers', () => {
  // @shows AS-29.13
  test('starts the processes, which answer on one port', async () => {
    await serveWith('--workers=2');
    expect(children()).toHaveLength(2);
    expect(running.stderr()).toContain(`Listening on http://127.0.0.1:${port}`);
    expect(running.stderr().match(/Listening on/g)).toHaveLength(1);
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([200, 200, 200, 200]);
  });

  // @shows AS-29.13
  test('replaces a worker that was killed, and refuses no connection', async () => {
    await serveWith('--workers=2');
    const [killed = 0, other = 0] = children();
    const found = await askDuring(async () => {
      process.kill(killed, 'SIGKILL');
      await running.says('A worker stopped (SIGKILL). Starting another worker.');
      await vi.waitFor(() => expect(children()).toHaveLength(2), { timeout: 60_000 });
    });
    expect(children()).toContain(other);
    expect(children()).not.toContain(killed);
    expect(found.get('ECONNREFUSED')).toBeUndefined();
    // Only the requests that the killed worker was answering are lost.
    const lost = [...found]
      .filter(([how]) => how !== 200)
      .reduce((sum, [, times]) => sum + times, 0);
    expect(lost).toBeLessThanOrEqual(8);
    expect(found.get(200)).toBeGreaterThan(0);
  });

  test.runIf(RUNS_ALL)(
    'keeps the other workers if no process can be started, and retries',
    async () => {
      await serveWith('--workers=2');
      const [killed = 0, other = 0] = children();
      running.process.kill('SIGUSR2');
      process.kill(killed, 'SIGKILL');
      await running.says('A worker could not start.');
      expect(await ask()).toBe(200);
      await vi.waitFor(() => expect(children()).toHaveLength(2), { timeout: 60_000 });
      expect(children()).toContain(other);
    },
  );

  // @shows AS-29.13
  test.runIf(RUNS_ALL)('replaces every worker after SIGHUP, and loses no request', async () => {
    await serveWith('--workers=2');
    const before = children();
    const found = await askDuring(async () => {
      running.process.kill('SIGHUP');
      await running.says('All workers were replaced.');
    });
    expect(children()).toHaveLength(2);
    expect(children().filter((pid) => before.includes(pid))).toEqual([]);
    expect([...found.keys()]).toEqual([200]);
  });

  test.runIf(RUNS_ALL)('loses no request on connections that a proxy keeps open', async () => {
    await serveWith('--workers=2');
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const found = await askDuring(
      async () => {
        running.process.kill('SIGHUP');
        await running.says('All workers were replaced.');
      },
      undefined,
      agent,
    );
    agent.destroy();
    expect([...found.keys()]).toEqual([200]);
  });

  test.runIf(RUNS_ALL)(
    'kills a worker that does not stop in time, and replaces the others',
    async () => {
      await serveWith('--workers=2');
      const before = children();
      process.kill(before[0] ?? 0, 'SIGSTOP');
      running.process.kill('SIGHUP');
      await running.says('A worker did not stop in time, so it was killed.');
      await running.says('All workers were replaced.');
      expect(children()).toHaveLength(2);
      expect(children().filter((pid) => before.includes(pid))).toEqual([]);
    },
  );

  test.runIf(RUNS_ALL)('stays ready while it replaces workers, without draining', async () => {
    await serveWith('--workers=2', '--drain=3600');
    const found = await askDuring(async () => {
      running.process.kill('SIGHUP');
      await running.says('All workers were replaced.');
    }, '/health/ready');
    expect([...found.keys()]).toEqual([200]);
    running.process.kill('SIGTERM');
    await running.says('Stopping in 3600 seconds');
  });

  test.runIf(RUNS_ALL)(
    'replaces the workers after SIGHUP during the start, as soon as they run',
    async () => {
      await serveImporting(STARTS_SLOWLY, ['--workers=2']);
      await vi.waitFor(() => expect(children()).toHaveLength(1), { timeout: 30_000 });
      const [first] = children();
      running.process.kill('SIGHUP');
      await running.says('2 workers are running. To replace them');
      await running.says('All workers were replaced.');
      expect(children()).toHaveLength(2);
      expect(children()).not.toContain(first);
    },
  );

  test.runIf(RUNS_ALL)('starts no additional worker if one that is starting hangs', async () => {
    await serveWith('--workers=2');
    const before = children();
    process.kill(before[0] ?? 0, 'SIGKILL');
    await vi.waitFor(
      () => {
        const starting = children().find((pid) => !before.includes(pid)) ?? 0;
        expect(starting).not.toBe(0);
        process.kill(starting, 'SIGSTOP');
      },
      { timeout: 30_000, interval: 5 },
    );
    running.process.kill('SIGHUP');
    await running.says('All workers were replaced.');
    expect(children()).toHaveLength(2);
    expect(running.stderr()).not.toContain('A worker could not start.');
  });

  test.runIf(RUNS_ALL)('stops workers that are still starting', async () => {
    await serveWith('--workers=2');
    running.process.kill('SIGHUP');
    await vi.waitFor(() => expect(children()).toHaveLength(3), { timeout: 30_000 });
    const workers = children();
    expect(await running.stop('SIGTERM')).toBe(0);
    expect(workers.filter(isAlive)).toEqual([]);
  });

  test('stops every process after SIGTERM', async () => {
    await serveWith('--workers=2');
    const workers = children();
    expect(await running.stop('SIGTERM')).toBe(0);
    expect(running.stderr()).toContain('Stopping after the current requests');
    expect(workers.filter(isAlive)).toEqual([]);
  });

  test.runIf(RUNS_ALL)('stops immediately after a second signal', async () => {
    await serveWith('--workers=2', '--drain=60');
    const workers = children();
    running.process.kill('SIGTERM');
    await running.says('Stopping in 60 seconds');
    expect(await running.stop('SIGTERM')).toBe(143);
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 10_000 });
  });

  test.runIf(RUNS_ALL)('leaves no worker running if the main process is killed', async () => {
    await serveWith('--workers=2');
    const workers = children();
    await running.stop('SIGKILL');
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 30_000 });
  });

  test('exits with the error of the first worker if it cannot start', async () => {
    await serve('--workers=2', '--port=70000');
    expect(await running.ended()).toBe(1);
    expect(running.stderr().match(/The port must be from 0 to 65535/g)).toHaveLength(1);
    expect(running.stderr()).toContain(
      'A worker stopped before it could accept requests; see its error above',
    );
  });

  test.each(['0', '65', '1.5', 'two'])('refuses %s', async (count) => {
    await serve(`--workers=${count}`);
    expect(await running.ended()).toBe(1);
    expect(running.stderr()).toContain('--workers must be a whole number from 1 to 64');
  });
});
