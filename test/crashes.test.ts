// @engines all, long: it kills processes
import { createHash } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, start, type RunningProcess } from './support/console.ts';
import { createWorker, type Chain, type Use, type Worker } from './support/load.ts';
import {
  callApi,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';

/** Kills a server process under load, repeatedly, and checks what its clients find afterwards. */
const WORKERS = 6;

let portal: RunningPortal;
let client: TestClient;
let port: string;
let url: string;
let server: RunningProcess;
/**
 * `refresh_retry_seconds`: after an interrupted use, the same request sent again gets the response.
 */
let window = 0;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal, { public: true });
  port = String(await freePort());
  url = `http://localhost:${port}`;
});
afterAll(() => portal.close());

async function serve(): Promise<RunningProcess> {
  const started = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: {
      ...portal.env,
      PORT: port,
      PUBLIC_URL: portal.url,
      PORTAL_CONFIG: JSON.stringify({ oauth_server: { refresh_retry_seconds: window } }),
    },
  });
  await started.says('Listening on');
  return started;
}

/** Runs the workers until this many steps were answered, and kills the server at that moment. */
async function killUnderLoad(workers: readonly Worker[], steps: number): Promise<number> {
  let answered = 0;
  const killed = Promise.withResolvers<unknown>();
  const work = async (worker: Worker) => {
    while ((await worker.step()) === 'answered') {
      answered += 1;
      if (answered === steps) killed.resolve(server.stop('SIGKILL'));
    }
  };
  await Promise.all([...workers.map(work), killed.promise]);
  return answered;
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

/** Whether the store has a request whose answer was cut off. */
async function happened(use: Use): Promise<boolean> {
  const { database } = portal.application;
  if (use.kind === 'revoke') return false;
  // A used refresh token is replaced by its successor.
  const [unused, value] =
    use.kind === 'exchange'
      ? ['code_hash = ? AND code_spent_at IS NULL', use.code]
      : ['refresh_hash = ?', use.token];
  const { rows } = await database.execute(`SELECT 1 FROM oauth_families WHERE ${unused}`, [
    hashOf(value ?? ''),
  ]);
  return rows.length === 0;
}

/** How many access tokens the family of these has. */
async function issuedTo({ accessToken }: Chain): Promise<number> {
  const { rows } = await portal.application.database.execute(
    'SELECT 1 FROM oauth_access_tokens WHERE family_id = (SELECT family_id FROM oauth_access_tokens WHERE secret_hash = ?)',
    [hashOf(accessToken)],
  );
  return rows.length;
}

const status = async ({ accessToken }: Chain) =>
  (await callApi({ ...portal, url }, '/api/whoami', accessToken)).status;

const NOTHING = { answered: 0, revocations: 0, cutOffBefore: 0, cutOffAfter: 0, answeredAgain: 0 };
let counts = NOTHING;

/**
 * After a restart: answers hold, and interrupted requests took effect once or not at all. Returns
 * the problems.
 */
async function examine(worker: Worker): Promise<readonly string[]> {
  const { chain, pending } = worker;
  const wrong: string[] = [];
  if (chain !== null && pending?.kind !== 'revoke' && (await status(chain)) !== 200) {
    wrong.push('an access token that was answered is not valid');
  }
  if (pending !== null) wrong.push(...(await examineCutOff(worker, pending)));
  for (const revoked of worker.revoked.splice(0)) {
    const refreshed = await requestToken({ ...portal, url }, null, {
      grant_type: 'refresh_token',
      client_id: client.id,
      refresh_token: revoked.refreshToken,
    });
    if ((await status(revoked)) !== 401 || refreshed.status !== 400)
      wrong.push('a revocation does not hold');
    counts.revocations += 1;
  }
  return wrong;
}

async function examineCutOff(worker: Worker, use: Use): Promise<readonly string[]> {
  const { chain } = worker;
  const spent = await happened(use);
  const wrong: string[] = [];
  const issued = chain === null ? null : await issuedTo(chain);
  if (chain !== null && issued !== chain.answered + (spent && use.kind === 'refresh' ? 1 : 0)) {
    wrong.push(`${issued} access tokens stand where ${chain.answered} were answered`);
  }
  const isAnsweredAgain = spent && window > 0 && use.kind === 'refresh';
  const again = await worker.send(use);
  if (again !== (spent && !isAnsweredAgain ? 400 : 'answered'))
    wrong.push(`sent again, a ${use.kind} is answered ${again}`);
  if (isAnsweredAgain) {
    counts.answeredAgain += 1;
    const { chain: now } = worker;
    if (now === null || (await status(now)) !== 200 || (await issuedTo(now)) !== issued)
      wrong.push('what was answered again is not what was issued');
  } else if (spent) {
    // The response of this use never arrived, so a second use revokes the family.
    if (chain !== null && (await status(chain)) !== 401) wrong.push('a replay left a token alive');
    worker.chain = null;
    worker.pending = null;
  }
  counts[spent ? 'cutOffAfter' : 'cutOffBefore'] += 1;
  return wrong;
}

// @shows AS-5.18, AS-18.5, RFC7009-2.1g
test.each<[string, number, number]>([
  ['nothing is used twice', 0, SCALE.kills],
  ['a retried request is answered in the retry window', 300, SCALE.retryKills],
])(
  'a server killed under load: every response is valid, every revocation stays, and %s',
  async (_, seconds, kills) => {
    window = seconds;
    counts = { ...NOTHING };
    server = await serve();
    const workers: Worker[] = [];
    // The workers sign in one after another. Otherwise the server would treat many sign-ins of one
    // account as guesses.
    for (let count = 0; count < WORKERS; count += 1)
      workers.push(await createWorker(portal, client, url));
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        counts.answered += await killUnderLoad(workers, 20 + ((kill * 13) % 50));
        server = await serve();
        expect((await Promise.all(workers.map(examine))).flat()).toEqual([]);
      }
    } finally {
      await server.stop('SIGKILL');
    }
    process.stdout.write(
      `${kills} kills under load: ${counts.answered} answered uses were true afterwards, ` +
        `${counts.revocations} revocations held; of the uses cut off ${counts.cutOffBefore} had not happened ` +
        `and ${counts.cutOffAfter} had, once; ${counts.answeredAgain} of these were answered again\n`,
    );
  },
);
