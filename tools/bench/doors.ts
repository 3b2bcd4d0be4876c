// `npm run bench:doors` or `node bench/dist/doors.js [rounds] [seconds]`
//
// Measures the features for clients of other people, and compares them with the features of every
// server. The rows take turns in one run. It prints processor time and requests per second. It uses
// SQLite, or the PostgreSQL server in DATABASE_URL.
import type { Connection, Sent } from './connection.ts';
import { createDatabase } from './database.ts';
import { measure, type Measured, type Prepare } from './measure.ts';
import { figure, median, print, printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench } from './server.ts';
import type { Seeded } from './target.ts';
import { authorize, form, OTHER_WORKS, tokensIn, unexpected, WORKS } from './works.ts';

const [, , rounds = '3', seconds = '1.5'] = process.argv;
const postgres = process.env['DATABASE_URL'];
const CONNECTIONS = 10;

interface Row {
  readonly name: string;
  /** The target: `portico-doors` has these features on, and `portico-mcp` has all defaults. */
  readonly on: 'portico-mcp' | 'portico-doors';
  readonly prepare: (target: Seeded, connection: Connection) => ReturnType<Prepare>;
}

const ROWS: readonly Row[] = [
  { name: 'refresh, as specified', on: 'portico-mcp', prepare: known('refresh, no ID token') },
  { name: 'refresh, with a window', on: 'portico-doors', prepare: known('refresh, no ID token') },
  { name: 'refresh, the same again within the window', on: 'portico-doors', prepare: refreshAgain },
  {
    name: 'client-credentials token',
    on: 'portico-mcp',
    prepare: known('client-credentials token'),
  },
  { name: 'registration of a public client', on: 'portico-doors', prepare: register },
  { name: 'token(), no challenges', on: 'portico-mcp', prepare: known('protected endpoint') },
  { name: 'token(), challenges on', on: 'portico-doors', prepare: known('protected endpoint') },
  { name: 'token(), no challenges: 401', on: 'portico-mcp', prepare: refused },
  { name: 'token(), challenges on: 401', on: 'portico-doors', prepare: refused },
  {
    name: 'tools/call of 2025-11-25, offered alone',
    on: 'portico-mcp',
    prepare: known('MCP call'),
  },
  {
    name: 'tools/call of 2025-11-25, beside 2026-07-28',
    on: 'portico-doors',
    prepare: known('MCP call'),
  },
  {
    name: 'tools/call of 2026-07-28',
    on: 'portico-doors',
    prepare: stateless('tools/call', { name: 'my_name', arguments: {} }),
  },
  { name: 'server/discover', on: 'portico-doors', prepare: stateless('server/discover', {}) },
];

const targets = new Map<
  Row['on'],
  { readonly bench: Bench; readonly running: Awaited<ReturnType<Bench['start']>> }
>();
try {
  for (const name of ['portico-mcp', 'portico-doors'] as const) {
    const bench = await Bench.seed(
      name,
      postgres === undefined ? null : await createDatabase(postgres),
    );
    targets.set(name, { bench, running: await bench.start() });
  }
  const runs = new Map<string, Measured[]>();
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const { name, on, prepare } of ROWS) {
      const target = targets.get(on);
      if (target === undefined) continue;
      const { bench, running } = target;
      const measured = await measure(
        bench.port,
        (connection) => prepare(bench.seeded, connection),
        {
          connections: CONNECTIONS,
          warmUp: Number(seconds) / 3,
          seconds: Number(seconds),
          processorTime: () => running.processorTime(),
        },
      );
      runs.set(name, [...(runs.get(name) ?? []), measured]);
    }
  }
  const store = postgres === undefined ? 'SQLite, synchronous=FULL' : 'PostgreSQL';
  const how = `${store}; medians of ${rounds} interleaved runs of ${seconds} s, ${CONNECTIONS} connections.`;
  print(`${how}\n`);
  printRows(
    ['', "microseconds of the server's processor", 'requests a second'],
    ROWS.map(({ name }) => {
      const measured = runs.get(name) ?? [];
      const spent = measured.map(({ busy, perSecond }) => ((busy ?? 0) / perSecond) * 1_000_000);
      return [
        name,
        figure(median(spent)),
        figure(median(measured.map(({ perSecond }) => perSecond))),
      ];
    }),
  );
  if (process.argv.length === 2)
    storeResult(postgres === undefined ? 'doors-sqlite' : 'doors-postgres', { how });
} finally {
  for (const { bench, running } of targets.values()) {
    await running.stop();
    await bench.remove();
  }
}

function known(name: string): Row['prepare'] {
  const work = [...WORKS, ...OTHER_WORKS].find((each) => each.name === name);
  if (work === undefined) throw new Error(`There is no work ${name}`);
  return (target, connection) => work.prepare(target, connection);
}

async function refreshAgain(target: Seeded, connection: Connection) {
  const { web, paths, scopes } = target;
  const { refresh_token = '' } = await authorize(target, connection, scopes.plain);
  const sent = form(paths.token, web, { grant_type: 'refresh_token', refresh_token });
  const first = tokensIn(await connection.request(sent));
  return async () => {
    const again = tokensIn(await connection.request(sent));
    if (again.refresh_token !== first.refresh_token) throw new Error('Another token was given');
  };
}

async function register({ initialAccessToken = '' }: Seeded, connection: Connection) {
  const sent: Sent = {
    method: 'POST',
    path: '/oauth/register',
    headers: { Authorization: `Bearer ${initialAccessToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Bench',
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
    }),
  };
  return async () => {
    const answer = await connection.request(sent);
    if (answer.status !== 201) throw unexpected(answer);
  };
}

async function refused({ paths }: Seeded, connection: Connection) {
  const headers = { Authorization: `Bearer ${'x'.repeat(43)}` };
  return async () => {
    const answer = await connection.request({
      method: 'GET',
      path: paths.protected ?? '',
      headers,
    });
    if (answer.status !== 401) throw unexpected(answer);
  };
}

function stateless(method: string, params: Readonly<Record<string, unknown>>): Row['prepare'] {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { name } = params;
  return async ({ service, paths }, connection) => {
    const issue = form(paths.token, service, {
      grant_type: 'client_credentials',
      scope: 'mcp:tools',
    });
    const { access_token: token } = tokensIn(await connection.request(issue));
    const sent: Sent = {
      method: 'POST',
      path: paths.mcp ?? '',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    };
    return async () => {
      const answer = await connection.request(sent);
      if (answer.status !== 200 || !answer.body.includes('"resultType":"complete"'))
        throw unexpected(answer);
    };
  };
}
