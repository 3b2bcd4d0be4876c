// @engines sqlite: it parses URLs, and starts its own servers
import dns from 'node:dns';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { startApplication } from '@portico/kit';
import { openDatabase } from 'portico';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { codeBlocks } from './support/documents.ts';

const SECRET = 'hunter2';

const problemOf = (url: string): string => {
  try {
    void openDatabase(url, { directory: '/' }).close();
    return '';
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigurationError' });
    return (error as Error).message;
  }
};

describe('database_url', () => {
  test.each([
    'postgres://localhost/app',
    'postgresql://app:secret@db.example:5433/app?sslmode=verify-full',
    'postgres:///app',
    'postgres://app@/app?host=/var/run/postgresql',
    'postgres://app:secret@%2Fvar%2Frun%2Fpostgresql/app',
    'postgres://app:secret@[::1]:5432/app',
    'postgres://app:secret@db/app?target_session_attrs=any',
    // @shows AS-18.22
    'postgres://app:secret@one,two/app',
    'postgres://app:secret@one:5432,two:5433,[::1],[2001:db8::1]:5434/app?target_session_attrs=read-write',
    'postgres://one,10.0.0.2:6432/app?target_session_attrs=primary&application_name=app',
    'mysql://app:secret@db:3306/app',
    'mariadb://app@db/app',
    'mysql://app:secret@db/app?ssl={"rejectUnauthorized":true}',
    'mysql://app:secret@db/app?ssl=Amazon%20RDS&ssl-mode=REQUIRED',
    'mysql://app:secret@db/app?ssl-mode=DISABLED',
  ])('accepts %s', (url) => {
    expect(problemOf(url)).toBe('');
  });

  test('accepts the URLs in the documentation', () => {
    const urls = codeBlocks().flatMap(({ code }) =>
      [...code.matchAll(/^(?:export )?DATABASE_URL=([^\s$…]+)(?=\s)/gm)].map(([, url = '']) => url),
    );
    expect(urls.map(problemOf).filter((problem) => problem !== '')).toEqual([]);
    expect(urls.length).toBeGreaterThan(0);
  });

  // @shows AS-18.22
  test.each([
    ['postgres:app', 'must be a URL such as postgres://'],
    ['postgres://app:hunter2#@db/app', 'must be a URL such as postgres://'],
    ['postgres://app:hunter2/x@db/app', 'must be a URL such as postgres://'],
    ['postgres://app:hunter2?x@db,two/app', 'must be a URL such as postgres://'],
    ['postgres://app:hunter2@db:port/app', 'must be a URL such as postgres://'],
    [
      'postgres://app:hunter2@one,,two/app',
      'lists 3 servers, but server 2 is not written as host or host:port',
    ],
    [
      'postgres://app:hunter2@one,two,/app',
      'lists 3 servers, but server 3 is not written as host or host:port',
    ],
    [
      'postgres://app:hunter2@one,two:0/app',
      'lists 2 servers, but server 2 is not written as host or host:port',
    ],
    [
      'postgres://app:hunter2@one:65536,two/app',
      'but server 1 is not written as host or host:port',
    ],
    [
      'postgres://app:hunter2@::1,two/app',
      'but server 1 is not written as host or host:port (write an IPv6 address',
    ],
    ['postgres://app:hunter2/x@one,two/app', 'must be a URL such as postgres://'],
    [
      'postgres://app:hunter2@/app?host=one,two',
      'must list several servers before the path, not in a parameter',
    ],
    ['postgres://app:hunter2@one/app?port=5432,5433', 'must list several servers before the path'],
    [
      'postgres://app:hunter2@one,two/app?target_session_attrs=standby',
      'must have target_session_attrs=read-write',
    ],
    [
      'postgres://app:hunter2@one/app?target_session_attrs=',
      'must have target_session_attrs=read-write',
    ],
    ['mysql://app:hunter2@one,two/app', 'must be the URL of one server'],
    ['mysql://app:hunter2@one:3306,two:3306/app', 'must be the URL of one server'],
    ['mysql://app:hunter2#@one/app', 'must be the URL of one server'],
    ['mysql://app:hunter2@one/app?ssl-mode=REQUIRED', 'has the option ssl-mode'],
    ['mariadb://app:hunter2@one/app?sslMode=verify_identity', 'has the option sslMode'],
    ['mysql://app:hunter2@one/app?useSSL=true', 'has the option useSSL'],
    ['mysql://app:hunter2@one/app?sslaccept=strict', 'has the option sslaccept'],
    ['mysql://app:hunter2@one/app?tls=true', 'has the option tls'],
    ['oracle://app:hunter2@one/app', 'must be sqlite:<file>, postgres://… or mysql://…'],
    // Not the folder /storage, as a file URL would mean, and not /:memory: either.
    ['sqlite://storage/app.sqlite', 'must be sqlite:<file>, postgres://… or mysql://…'],
    ['sqlite://:memory:', 'must be sqlite:<file>, postgres://… or mysql://…'],
  ])('refuses %s, and the error says what is wrong without the password', (url, message) => {
    const problem = problemOf(url);
    expect(problem).toMatch(/^database_url: /);
    expect(problem).toContain(message);
    expect(problem).not.toContain(SECRET);
  });
});

// @shows AS-18.22
test('an application with an invalid database URL does not start, and the error names its key', async () => {
  const starting = startApplication(
    { config: { public_url: 'https://app.example' } },
    { env: { DATABASE_URL: `postgres://app:${SECRET}@one,/app` } },
  );
  await expect(starting).rejects.toThrow(
    /^database_url: lists 2 servers, but server 2 is not written as host or host:port/,
  );
});

/**
 * A server that answers the start of a connection with this, and the next data with the next
 * answer.
 */
async function listening(
  ...answers: readonly Buffer[]
): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let count = 0;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard.push(data.toString('latin1'));
      const answer = answers[count];
      count += 1;
      if (answer !== undefined) socket.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard };
}

function message(type: string, ...parts: readonly (string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'latin1');
      const number = Buffer.alloc(4);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const ASKS_FOR_PASSWORD = message('R', 3);
const errorOf = (code: string) => message('E', `SFATAL\0C${code}\0Mrefused ${code}\0\0`);

describe('database_url with several servers', () => {
  // @shows AS-18.22
  test('uses the next server if one is starting, silent or down, with the same settings for all', async () => {
    const starting = await listening(errorOf('57P03'));
    const silent = await listening();
    const last = await listening(ASKS_FOR_PASSWORD, errorOf('28P01'));
    const hosts = [`127.0.0.1:${starting.port}`, `127.0.0.1:${silent.port}`, '127.0.0.1:1'];
    const url = `postgres://a%40b:p%23%2F%3F%2C%25@${[...hosts, `127.0.0.1:${last.port}`].join(',')}/app`;
    const database = openDatabase(url, { directory: '/' });
    onTestFinished(() => database.close());
    await expect(database.execute('SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(starting.heard).toHaveLength(1);
    expect(silent.heard).toHaveLength(1);
    expect(last.heard[0]).toContain('user\0a@b\0database\0app\0');
    expect(last.heard[0]).not.toContain('target_session_attrs');
    expect(last.heard[1]?.slice(5)).toBe('p#/?,%\0');
  });

  // @shows AS-18.22
  test('accepts an IPv6 address with and without a port', async () => {
    const database = openDatabase('postgres://app@[::1]:1,127.0.0.1:1/app', { directory: '/' });
    onTestFinished(() => database.close());
    const failure: unknown = await database.execute('SELECT 1').catch((error: unknown) => error);
    expect(database.isUnavailable(failure)).toBe(true);
    // This is also true on a machine without IPv6.
    expect((failure as Error).message).toMatch(
      /\[::1\]:1: connect E[A-Z]+ ::1:1.*; 127\.0\.0\.1:1: connect E/,
    );
  });

  // @shows AS-18.22
  test('tries no other server after a wrong password, which is the same for all', async () => {
    const first = await listening(errorOf('28P01'));
    const second = await listening(errorOf('57P03'));
    const url = `postgres://app:${SECRET}@127.0.0.1:${first.port},127.0.0.1:${second.port}/app`;
    const database = openDatabase(url, { directory: '/' });
    onTestFinished(() => database.close());
    const failure: unknown = await database.execute('SELECT 1').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: '28P01' });
    expect(database.isUnavailable(failure)).toBe(true);
    expect(second.heard).toEqual([]);
  });

  // @shows AS-18.22
  test('is unavailable if no server works, and the error lists each server with its reason', async () => {
    const first = await listening(errorOf('57P03'));
    const second = await listening(errorOf('53300'));
    const url = `postgres://app:${SECRET}@127.0.0.1:${first.port},127.0.0.1:${second.port}/app`;
    const database = openDatabase(url, { directory: '/' });
    onTestFinished(() => database.close());
    const failure: unknown = await database.execute('SELECT 1').catch((error: unknown) => error);
    expect(database.isUnavailable(failure)).toBe(true);
    expect((failure as Error).message).toBe(
      `None of the servers in database_url can be used: 127.0.0.1:${first.port}: refused 57P03; 127.0.0.1:${second.port}: refused 53300`,
    );
  });
});

const CERTIFICATES = path.join(import.meta.dirname, 'fixtures/tls');

/** A server of PostgreSQL whose certificate ended in 2021. */
async function listeningExpired(): Promise<number> {
  const [key, cert] = await Promise.all(
    ['key.pem', 'expired-certificate.pem'].map((name) => readFile(path.join(CERTIFICATES, name))),
  );
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('S');
      const secureContext = createSecureContext({ key, cert });
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {});
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The greeting of a server of MariaDB that supports TLS, up to the names of its plugin. */
const GREETING = Buffer.concat([
  Buffer.from('\x0a10.11.0-MariaDB\0', 'latin1'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from('12345678\0', 'latin1'),
  // The flags: the protocol of MySQL 4.1, TLS, secure connections and authentication plugins.
  Buffer.from([0x00, 0x8a, 45, 2, 0, 0x08, 0x00, 21]),
  Buffer.alloc(10),
  Buffer.from('123456789012\0mysql_native_password\0', 'latin1'),
]);

describe('a server that cannot be reached', () => {
  test.each(['postgres', 'mysql'])(
    'is reported with the reason for each address of its name, on %s',
    async (scheme) => {
      const addresses = [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ];
      const lookup = vi.spyOn(dns, 'lookup');
      lookup.mockImplementation((...given: readonly unknown[]) => {
        (given.at(-1) as (error: null, found: typeof addresses) => void)(null, addresses);
      });
      onTestFinished(() => lookup.mockRestore());
      const { code, stderr } = await porticoHere(['db:migrate', 'status'], {
        cwd: path.join(ROOT, 'examples', 'portal'),
        env: { APP_ENV: 'dev', DATABASE_URL: `${scheme}://app:${SECRET}@both:1/app` },
      });
      expect(stderr).toMatch(
        /^The database cannot be reached: connect E[A-Z]+ ::1:1.*; connect ECONNREFUSED 127\.0\.0\.1:1\. Start/,
      );
      expect(stderr).not.toContain(SECRET);
      expect(code).toBe(1);
    },
  );

  const failureAt = async (url: string) => {
    const database = openDatabase(url, { directory: '/' });
    onTestFinished(() => database.close());
    const failure: unknown = await database.execute('SELECT 1').catch((error: unknown) => error);
    return { failure, isUnavailable: database.isUnavailable(failure) };
  };

  // @shows AS-6.16
  test.each([
    ['PostgreSQL', 'postgres://app@%2Fnowhere/app'],
    ['MariaDB', 'mysql://app@localhost/app?socketPath=/nowhere/mysql.sock'],
  ])('is unavailable if %s has removed its Unix socket', async (_, url) => {
    expect(await failureAt(url)).toMatchObject({
      failure: { code: 'ENOENT', syscall: 'connect' },
      isUnavailable: true,
    });
  });

  const expiring = `sslmode=verify-full&sslrootcert=${CERTIFICATES}/expired-certificate.pem`;

  // @shows AS-6.16
  test('is unavailable if its certificate has expired', async () => {
    const url = `postgres://app@127.0.0.1:${await listeningExpired()}/app?${expiring}`;
    expect(await failureAt(url)).toMatchObject({
      failure: { code: 'CERT_HAS_EXPIRED' },
      isUnavailable: true,
    });
  });

  // @shows AS-18.22
  test('is skipped for the next one if its certificate has expired', async () => {
    const next = await listening(Buffer.from('N'));
    const hosts = [`127.0.0.1:${await listeningExpired()}`, `127.0.0.1:${next.port}`];
    await failureAt(`postgres://app@${hosts.join(',')}/app?${expiring}`);
    expect(next.heard).toHaveLength(1);
  });

  // @shows AS-6.16
  test('is unavailable if MariaDB closes the connection during the TLS handshake', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(Buffer.concat([Buffer.from([GREETING.length, 0, 0, 0]), GREETING]));
      socket.once('data', () => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await failureAt(`mysql://app@127.0.0.1:${port}/app?ssl={}`)).toMatchObject({
      failure: { code: 'HANDSHAKE_SSL_ERROR' },
      isUnavailable: true,
    });
  });
});
