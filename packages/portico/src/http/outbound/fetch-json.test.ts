// @engines sqlite, long: nothing is stored
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import {
  createServer,
  getDefaultAutoSelectFamily,
  setDefaultAutoSelectFamily,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { gzipSync } from 'node:zlib';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createFetchConfigured,
  createFetchImage,
  createFetchJson,
  type FetchJson,
} from './fetch-json.ts';
import { GuardedRequests, type GuardedOptions } from './guarded-request.ts';
import { resolveByDns } from './dns.ts';
import { OutboundError } from './limits.ts';
import {
  DOCUMENTS_CA,
  startDocumentHost,
  type DocumentHost,
} from '../../../../../test/support/document-host.ts';
import { createClock } from '../../../../../test/support/clock.ts';

/**
 * No client can make the server send requests to internal hosts (RFC 6890, section 8.6 of the
 * draft).
 */
let host: DocumentHost;
/**
 * A server on the same port, at an address that must never be connected to. Reports every
 * connection.
 */
let forbidden: Server;
const reached: string[] = [];

beforeAll(async () => {
  host = await startDocumentHost('127.0.0.1');
  forbidden = createServer((socket) => {
    reached.push(socket.remoteAddress ?? '');
    socket.destroy();
  });
  await new Promise<void>((resolve) => forbidden.listen(host.port, '127.0.0.2', resolve));
});
beforeEach(() => void (reached.length = 0));
afterAll(async () => {
  await new Promise((resolve) => forbidden.close(resolve));
  await host.close();
});

const LIMIT = 5120;
const clock = createClock();

const OPTIONS: GuardedOptions = {
  allowsLoopback: true,
  anyPort: true,
  clock: clock.now,
  ca: DOCUMENTS_CA,
  resolve: async () => ['127.0.0.1'],
};

function fetching(options: Partial<GuardedOptions> = {}): FetchJson {
  return createFetchJson({ ...OPTIONS, ...options });
}

function ask(fetchJson: FetchJson, url: string) {
  return fetchJson(new URL(url), { limit: LIMIT, person: 'ada', isKnown: false });
}

/** Returns why a request to this URL is refused. Fails if the request gets a response. */
async function refusal(fetchJson: FetchJson, url: string): Promise<string> {
  const error: unknown = await ask(fetchJson, url).then(
    ({ value }) => new Error(`It was answered: ${JSON.stringify(value)}`),
    (rejected: unknown) => rejected,
  );
  expect(error).toBeInstanceOf(OutboundError);
  return (error as OutboundError).message;
}

describe('an outbound request goes only to the checked address', () => {
  test('a document is read from the address of its host', async () => {
    const url = host.publish('/plain.json', { client_name: 'Assistant' });
    const { value } = await ask(fetching(), url);
    expect(value).toEqual({ client_id: url, client_name: 'Assistant' });
  });

  // @shows AS-21.5
  test.each([
    ['10.0.0.1'],
    ['127.0.0.1'],
    ['::1'],
    ['0.0.0.0'],
    ['::'],
    ['169.254.169.254'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['fd00:ec2::254'],
    ['fe80::1%lo'],
  ])('a host with the address %s is refused', async (address) => {
    const url = host.publish('/private.json', {});
    const before = host.connections();
    const fetchJson = fetching({ allowsLoopback: false, resolve: async () => [address] });
    expect(await refusal(fetchJson, url)).toContain(`${address}, which is not public`);
    expect(host.connections()).toBe(before);
  });

  test.each([
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '0.0.0.0',
    'fe80::1',
  ])(
    'during development, only loopback is allowed besides public addresses, and not %s',
    async (address) => {
      const fetchJson = fetching({ resolve: async () => [address] });
      expect(await refusal(fetchJson, host.publish('/private.json', {}))).toContain('not public');
    },
  );

  test('one non-public address in the list is enough to refuse the host', async () => {
    const url = host.publish('/several.json', {});
    const before = host.connections();
    for (const addresses of [
      ['127.0.0.1', '169.254.169.254'],
      ['169.254.169.254', '127.0.0.1'],
    ]) {
      expect(await refusal(fetching({ resolve: async () => addresses }), url)).toContain(
        '169.254.169.254',
      );
    }
    expect(host.connections()).toBe(before);
  });

  // @shows AS-21.5
  test('the name is resolved once, and the connection uses the checked address', async () => {
    const url = host.publish('/rebinding.json', { client_name: 'Assistant' });
    let lookUps = 0;
    const resolve = async () => [(lookUps += 1) === 1 ? '127.0.0.1' : '127.0.0.2'];
    expect((await ask(fetching({ resolve }), url)).value).toMatchObject({
      client_name: 'Assistant',
    });
    expect([lookUps, reached]).toEqual([1, []]);
  });

  test('the checked address is also used if Node tries only one address', async () => {
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    try {
      const url = host.publish('/plain.json', { client_name: 'Assistant' });
      const resolve = async () => ['127.0.0.1', '::1'];
      expect((await ask(fetching({ resolve }), url)).value).toMatchObject({
        client_name: 'Assistant',
      });
    } finally {
      setDefaultAutoSelectFamily(before);
    }
  });

  test('a name that later resolves to a private address is refused then', async () => {
    const url = host.publish('/rebinding.json', {});
    let lookUps = 0;
    const fetchJson = fetching({
      resolve: async () => [(lookUps += 1) === 1 ? '127.0.0.1' : '169.254.169.254'],
    });
    await ask(fetchJson, url);
    expect(await refusal(fetchJson, url)).toContain('169.254.169.254');
  });

  test('a host without an address and an unknown host are refused', async () => {
    const url = host.publish('/nobody.json', {});
    expect(await refusal(fetching({ resolve: async () => [] }), url)).toContain('no address');
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(await refusal(fetching({ resolve: () => Promise.reject(unknown) }), url)).toContain(
      'ENOTFOUND',
    );
  });

  // @shows AS-21.5
  test.each([
    'https://127.0.0.2:{port}/',
    'https://2130706434:{port}/',
    'https://0177.0.0.2:{port}/',
    'https://0x7f.0.0.2:{port}/',
    'https://127.2:{port}/',
    'https://[::ffff:127.0.0.2]:{port}/',
    'https://[::ffff:7f00:2]:{port}/',
    'https://127.0.0.2.:{port}/',
  ])('%s is an IP address, refused without a name lookup', async (url) => {
    const message = await refusal(fetching(), url.replace('{port}', String(host.port)));
    expect(message).toContain('an IP address instead of a host name');
    expect(reached).toEqual([]);
  });

  test.each([
    ['http://client.example/client.json', 'not https'],
    ['ftp://client.example/client.json', 'not https'],
    ['file:///etc/passwd', 'not https'],
    ['data:application/json,{}', 'not https'],
    ['https://client.example:22/client.json', 'a port other than 443'],
    ['https://client.example:8443/client.json', 'a port other than 443'],
  ])('%s is refused before any lookup: %s', async (url, says) => {
    let lookUps = 0;
    const resolve = async () => [`127.0.0.${(lookUps += 1)}`];
    expect(await refusal(fetching({ anyPort: false, resolve }), url)).toContain(says);
    expect(lookUps).toBe(0);
  });

  // @shows AS-21.5
  test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async (status) => {
    for (const to of [
      'http://169.254.169.254/latest/meta-data/',
      `https://127.0.0.2:${host.port}/`,
      '/plain.json',
    ]) {
      const url = host.answer('/redirect', (_, response) => {
        response.writeHead(status, { Location: to, 'Content-Type': 'application/json' }).end('{}');
      });
      const asked = host.asked.length;
      expect(await refusal(fetching(), url)).toContain(`${status}`);
      expect(host.asked.slice(asked)).toEqual(['/redirect']);
    }
    expect(reached).toEqual([]);
  });

  // @shows AS-21.5
  test('the certificate must be for the host, from a trusted authority', async () => {
    host.publish('/plain.json', {});
    expect(await refusal(fetching(), host.url('/plain.json', 'other.example'))).toContain(
      'ALTNAME',
    );
    const untrusting = fetching({ ca: undefined });
    expect(await refusal(untrusting, host.url('/plain.json'))).toContain('SELF_SIGNED');
  });

  test('no environment variable disables the check of certificates', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const url = host.publish('/plain.json', {});
      expect(await refusal(fetching({ ca: undefined }), url)).toContain('SELF_SIGNED');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('a response to an outbound request', () => {
  const json = (
    text: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
    status = 200,
  ) =>
    host.answer('/answer', (_, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
    });
  const padded = (bytes: number) => JSON.stringify('a'.repeat(bytes - 2));
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20));

  // @shows AS-21.6
  test('may have up to 5 KB, to the byte', async () => {
    expect((await ask(fetching(), json(padded(LIMIT)))).value).toHaveLength(LIMIT - 2);
    expect(await refusal(fetching(), json(padded(LIMIT + 1)))).toContain('longer than 5120 bytes');
  });

  test('without an end is read up to the limit, and then the connection is closed', async () => {
    const closed = new Promise<void>((resolve) => {
      host.answer('/endless', (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const more = () =>
          void response.write('[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]'.repeat(32), more);
        response.on('close', resolve);
        more();
      });
    });
    expect(await refusal(fetching(), host.url('/endless'))).toContain('longer than');
    await closed;
  });

  test('with another status is not read, and the connection is closed', async () => {
    const closed = new Promise<void>((resolve) => {
      host.answer('/failing', (_, response) => {
        response.on('close', resolve).writeHead(500, { 'Content-Type': 'application/json' });
        response.write('[');
      });
    });
    const deadline = () => new AbortController().signal;
    expect(await refusal(fetching({ deadline }), host.url('/failing'))).toContain('500');
    await closed;
  });

  // @shows AS-21.6
  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity'])(
    'must not be compressed (%s)',
    async (encoding) => {
      expect(await refusal(fetching(), json(bomb, { 'Content-Encoding': encoding }))).toContain(
        'compressed',
      );
    },
  );

  test('with compressed bytes but no such header is not JSON', async () => {
    expect(await refusal(fetching(), json(gzipSync('{}')))).toMatch(/not UTF-8|not JSON/);
  });

  test('must not have too large headers', async () => {
    const url = json('{}', { 'X-Padding': 'a'.repeat(9000) });
    expect(await refusal(fetching(), url)).toContain('HPE_HEADER_OVERFLOW');
  });

  test.each([201, 202, 203, 204, 206, 304, 400, 403, 404, 410, 429, 500, 503])(
    'must have the status 200, not %i',
    async (status) => {
      expect(
        await refusal(fetching(), json(status === 204 || status === 304 ? '' : '{}', {}, status)),
      ).toContain(`${status}`);
    },
  );

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/client+json',
    'application/vnd.client-1_0.b+json',
  ])('may have the media type %s', async (type) => {
    expect((await ask(fetching(), json('{"a":1}', { 'Content-Type': type }))).value).toEqual({
      a: 1,
    });
  });

  test.each([
    'text/html',
    'text/plain',
    'text/json',
    'application/octet-stream',
    'application/jsonp',
    'x-application/json',
    'application/client json',
    'image/svg+xml',
    '',
  ])('must be JSON, not %j', async (type) => {
    expect(await refusal(fetching(), json('{}', { 'Content-Type': type }))).toContain(
      'not application/json',
    );
  });

  test.each([
    ['not JSON', '<!doctype html>'],
    ['not JSON', ''],
    ['not JSON', '{"client_id":'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('that is %s is refused: %j', async (says, text) => {
    expect(await refusal(fetching(), json(text))).toContain(says);
  });

  // @shows AS-21.6
  test.each([
    [
      '101',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['101 without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    [
      '101 and an answer',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['103 alone', 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n'],
    ['half of a header', 'HTTP/1.1 200 OK\r\nContent-'],
    ['nothing', ''],
  ])('that is invalid ends the request, and frees its slot: %s', async (_, text) => {
    const fetchJson = fetching();
    const url = host.answer('/switching', (request) => void request.socket.end(text));
    const by = (person: string) =>
      fetchJson(new URL(url), { limit: LIMIT, person, isKnown: false });
    for (let number = 1; number <= 9; number += 1) {
      await expect(by(`person ${number}`)).rejects.toThrow(
        /cannot be fetched|without a response|is 101/,
      );
    }
    host.publish('/plain.json', {});
    await ask(fetchJson, host.url('/plain.json'));
  });

  test('is requested without cookies, authorization or data about a person', async () => {
    const headers = new Promise((resolve) => {
      host.answer('/headers', (request, response) => {
        resolve(request.headers);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await ask(fetching(), host.url('/headers'));
    expect(await headers).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'close',
      host: `client.example:${host.port}`,
      'user-agent': 'portico',
    });
  });
});

describe('a document from the configuration', () => {
  test('is read with the same checks', async () => {
    const fetchConfigured = createFetchConfigured(OPTIONS);
    const url = new URL(
      host.answer('/keys', ({ headers }, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ accept: headers.accept }));
      }),
    );
    expect(await fetchConfigured(url, 100)).toEqual({ accept: 'application/json' });
    await expect(fetchConfigured(url, 10)).rejects.toThrow('longer than 10 bytes');
    const elsewhere = createFetchConfigured({ ...OPTIONS, anyPort: false });
    await expect(elsewhere(url, 100)).rejects.toThrow('a port other than 443');
  });
});

describe('an image', () => {
  const image = (headers: Readonly<Record<string, string>>, status = 200) => {
    const url = new URL(
      host.answer('/logo', (request, response) => {
        response.writeHead(status, headers).end(request.headers.accept);
      }),
    );
    const about = { limit: 100, person: crypto.randomUUID(), isKnown: false };
    return createFetchImage(OPTIONS)(url, about);
  };

  test.each(['image/png', 'image/webp; a=b', 'IMAGE/GIF'])('may have the type %s', async (type) => {
    const bytes = await image({ 'Content-Type': type });
    expect(Buffer.from(bytes).toString()).toBe('image/png, image/jpeg, image/webp, image/gif');
  });

  test.each(['text/html', 'x-image/png', 'image', ''])(
    'must not have the type %j',
    async (type) => {
      await expect(image({ 'Content-Type': type })).rejects.toThrow('the response is not an image');
    },
  );

  test('must have the status 200, and must not be compressed', async () => {
    const type = { 'Content-Type': 'image/png' };
    await expect(image(type, 404)).rejects.toThrow('404');
    await expect(image({ ...type, 'Content-Encoding': 'gzip' })).rejects.toThrow('compressed');
  });
});

describe('a request with a body', () => {
  test('is a POST, and is read by the caller', async () => {
    const url = new URL(
      host.answer('/hook', (request, response) => {
        void text(request).then((body) => response.end(`${request.method} ${body}`));
      }),
    );
    const requests = new GuardedRequests(OPTIONS);
    expect(await requests.send(url, { body: 'a', headers: {} }, text)).toBe('POST a');
    expect(await requests.send(url, { body: '', headers: {} }, text)).toBe('POST ');
    expect(await requests.send(url, { headers: {} }, text)).toBe('GET ');
  });

  test('is not sent to a URL that is not allowed', async () => {
    const requests = new GuardedRequests({ ...OPTIONS, anyPort: false });
    const url = new URL(host.url('/hook'));
    const before = host.connections();
    await expect(requests.send(url, { body: 'a', headers: {} }, text)).rejects.toThrow('a port');
    expect(host.connections()).toBe(before);
  });

  test('ends when its caller or its deadline says so', async () => {
    host.answer('/hanging', () => {});
    const url = new URL(host.url('/hanging'));
    const [caller, deadline] = [new AbortController(), new AbortController()];
    const requests = new GuardedRequests({ ...OPTIONS, deadline: () => deadline.signal });
    const sent = [
      requests.send(url, { headers: {}, signal: caller.signal }, text),
      requests.send(url, { headers: {}, signal: new AbortController().signal }, text),
      requests.send(url, { headers: {} }, text),
    ].map((work) => work.catch(String));
    caller.abort();
    expect(await sent[0]).toContain('it took longer than five seconds');
    deadline.abort();
    expect(await Promise.all(sent)).toEqual(
      Array.from({ length: 3 }, () => 'OutboundError: it took longer than five seconds'),
    );
    // An aborted signal ends a request before it starts.
    const before = host.connections();
    await expect(requests.send(url, { headers: {} }, text)).rejects.toThrow('longer than five');
    expect(host.connections()).toBe(before);
  });

  test.each([
    [new TypeError('secret'), 'it cannot be fetched: TypeError'],
    [
      Object.assign(new Error('secret'), { code: 'ECONNRESET' }),
      'it cannot be fetched: ECONNRESET',
    ],
    ['secret', 'it cannot be fetched'],
    [new DOMException('secret', 'AbortError'), 'it took longer than five seconds'],
  ])('fails without the text of the error: %s', async (problem, message) => {
    const requests = new GuardedRequests(OPTIONS);
    const url = new URL(host.publish('/plain.json', {}));
    const failing = requests.send(url, { headers: {} }, () => Promise.reject(problem as Error));
    await expect(failing).rejects.toEqual(new OutboundError(message));
  });
});

/**
 * Starts a name server on a loopback port. The server responds with these records. Without records,
 * it never responds.
 */
async function startNameServer(records: Readonly<Record<string, readonly string[]>> = {}) {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  let asked = () => {};
  const first = new Promise<void>((resolve) => (asked = resolve));
  socket.on('message', (query, { address, port }) => {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += length + 1;
    }
    const type = query.readUInt16BE(end + 1);
    const name = labels.join('.').toLowerCase();
    questions.push(`${name} ${type === 28 ? 'AAAA' : 'A'}`);
    asked();
    const addresses = records[name];
    if (addresses === undefined) return;
    const found = type === 1 ? addresses : [];
    const answers = found.map((each) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...each.split('.').map(Number)]),
    );
    const head = Buffer.from(query.subarray(0, end + 5));
    // Write the response to one DNS query: recursion is available, and the query's additional
    // records are left out.
    head.writeUInt16BE(0x8180, 2);
    for (const [at, count] of [1, found.length, 0, 0].entries())
      head.writeUInt16BE(count, 4 + 2 * at);
    socket.send(Buffer.concat([head, ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    nameServers: [`127.0.0.1:${socket.address().port}`],
    questions,
    /** Resolves when the first request arrives. */
    first,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

describe('the DNS lookup of an outbound request', () => {
  /**
   * The system look-ups that are running. Each uses one of the few threads that files and the
   * host's own look-ups need.
   */
  const systemLookUps = () =>
    process.getActiveResourcesInfo().filter((name) => name.startsWith('GetAddrInfo'));

  test('provides the address that is contacted', async () => {
    await using dns = await startNameServer({ 'client.example': ['127.0.0.1'] });
    const url = host.publish('/plain.json', { client_name: 'Assistant' });
    const fetchJson = fetching({ resolve: undefined, nameServers: dns.nameServers });
    expect((await ask(fetchJson, url)).value).toMatchObject({ client_name: 'Assistant' });
    expect(dns.questions.toSorted()).toEqual(['client.example A', 'client.example AAAA']);
  });

  // @shows AS-21.5
  test('has every returned address checked', async () => {
    await using dns = await startNameServer({ 'client.example': ['127.0.0.1', '10.0.0.1'] });
    const fetchJson = fetching({ resolve: undefined, nameServers: dns.nameServers });
    const before = host.connections();
    expect(await refusal(fetchJson, host.publish('/plain.json', {}))).toContain('10.0.0.1');
    expect(host.connections()).toBe(before);
  });

  test('fails for a name without an address, and ignores the hosts file and search domains', async () => {
    await using dns = await startNameServer({ localhost: [] });
    const fetchJson = fetching({ resolve: undefined, nameServers: dns.nameServers });
    expect(await refusal(fetchJson, host.url('/plain.json', 'localhost'))).toContain('ENODATA');
    expect(dns.questions.toSorted()).toEqual(['localhost A', 'localhost AAAA']);
  });

  // @shows AS-21.6
  // @shows AS-21.6
  test('does not block the process if the name server hangs', async () => {
    await using dns = await startNameServer();
    const controller = new AbortController();
    const fetchJson = fetching({
      allowsLoopback: false,
      resolve: undefined,
      nameServers: dns.nameServers,
      deadline: () => controller.signal,
    });
    const refused = refusal(fetchJson, 'https://client.example/client.json');
    await dns.first;
    expect(systemLookUps()).toEqual([]);
    controller.abort(new DOMException('The time is over', 'TimeoutError'));
    expect(await refused).toContain('longer than five seconds');
  });

  test('ends with its request', async () => {
    await using dns = await startNameServer();
    const controller = new AbortController();
    const found = resolveByDns('client.example', controller.signal, dns.nameServers).catch(String);
    await dns.first;
    controller.abort();
    expect(await found).toContain('ECANCELLED');
    await expect(
      resolveByDns('client.example', controller.signal, dns.nameServers),
    ).rejects.toThrow('abort');
  });

  test('asks the name servers of the system, and one kind of address is enough', async () => {
    const unknown = Object.assign(new Error('queryA ENODATA'), { code: 'ENODATA' });
    const { signal } = new AbortController();
    const ipv4 = vi.spyOn(Resolver.prototype, 'resolve4');
    const ipv6 = vi.spyOn(Resolver.prototype, 'resolve6');
    try {
      ipv4.mockResolvedValue(['192.0.2.1'] as never);
      ipv6.mockRejectedValue(unknown);
      expect(await resolveByDns('client.example', signal)).toEqual(['192.0.2.1']);
      ipv6.mockResolvedValue(['2001:db8::1'] as never);
      expect(await resolveByDns('client.example', signal)).toEqual(['192.0.2.1', '2001:db8::1']);
      ipv4.mockRejectedValue(unknown);
      expect(await resolveByDns('client.example', signal)).toEqual(['2001:db8::1']);
      ipv6.mockRejectedValue(new Error('queryAaaa ENODATA'));
      await expect(resolveByDns('client.example', signal)).rejects.toBe(unknown);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('is done by the system during development, so that localhost works', async () => {
    const url = host.publish('/plain.json', {});
    expect(
      (await ask(fetching({ resolve: undefined }), url.replace('client.example', 'localhost')))
        .value,
    ).toEqual({
      client_id: url.replace('client.example', 'localhost'),
    });
  });
});

describe('an outbound request ends after five seconds, even if it waits for', () => {
  /** Returns a deadline, and a function with which the test triggers it. */
  function ending(): { readonly deadline: () => AbortSignal; readonly now: () => void } {
    const controller = new AbortController();
    return {
      deadline: () => controller.signal,
      now: () => controller.abort(new DOMException('The time is over', 'TimeoutError')),
    };
  }

  test('the resolver', async () => {
    const { deadline, now } = ending();
    const resolve = () => {
      now();
      return new Promise<never>(() => {});
    };
    expect(await refusal(fetching({ deadline, resolve }), host.url('/'))).toContain(
      'longer than five seconds',
    );
  });

  test('a listener that accepts the connection and sends nothing', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const { deadline, now } = ending();
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const refused = refusal(fetching({ deadline }), `https://client.example:${port}/`);
    const [socket] = await connected;
    const closed = once(socket.resume(), 'close');
    now();
    expect(await refused).toContain('longer than five seconds');
    await closed;
    await new Promise((resolve) => silent.close(resolve));
  });

  // @shows AS-21.6
  test.each(['before its headers', 'after its headers', 'byte by byte'])(
    'a response that is never finished: %s',
    async (when) => {
      const { deadline, now } = ending();
      const asked = new Promise<{ readonly closed: Promise<unknown> }>((resolve) => {
        host.answer('/drip', (_, response) => {
          if (when !== 'before its headers')
            response.writeHead(200, { 'Content-Type': 'application/json' });
          if (when === 'after its headers') response.flushHeaders();
          if (when === 'byte by byte') response.write('[');
          resolve({ closed: once(response, 'close') });
        });
      });
      const refused = refusal(fetching({ deadline }), host.url('/drip'));
      const { closed } = await asked;
      now();
      expect(await refused).toContain('longer than five seconds');
      await closed;
    },
  );

  test('anything else, because its timeout is five seconds', async () => {
    const timeouts: number[] = [];
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (milliseconds) => {
      timeouts.push(milliseconds);
      return timeout(milliseconds);
    };
    try {
      await ask(fetching(), host.publish('/plain.json', {}));
    } finally {
      AbortSignal.timeout = timeout;
    }
    expect(timeouts).toEqual([5000]);
  });
});

describe('the limit on outbound requests', () => {
  const as = (fetchJson: FetchJson, person: string, url: string, isKnown = false) =>
    fetchJson(new URL(url), { limit: LIMIT, person, isKnown });

  // @shows AS-21.6
  test('is ten per minute for one person, and then more are allowed', async () => {
    const fetchJson = fetching();
    host.publish('/plain.json', {});
    const at = (number: number) => host.url('/plain.json', `h${number}.client.example`);
    for (let number = 1; number <= 10; number += 1) await ask(fetchJson, at(number));
    const error = await ask(fetchJson, at(11)).catch((rejected: unknown) => rejected);
    expect(error).toMatchObject({
      message: expect.stringContaining('for ada within'),
      retryAfter: 60,
    });
    // This person's limit does not delay other people.
    await expect(as(fetchJson, 'grace', at(11))).resolves.toBeDefined();
    clock.advance(60);
    await ask(fetchJson, at(11));
  });

  test('does not count URLs that are not allowed', async () => {
    const fetchJson = fetching();
    for (let number = 1; number <= 11; number += 1)
      expect(await refusal(fetchJson, 'http://client.example/')).toBe('it is not https');
  });

  // @shows AS-21.6
  test('is five per minute for one person to one host, so that others can still use the host', async () => {
    const fetchJson = fetching();
    const url = host.answer('/broken', (_, response) => void response.writeHead(500).end());
    for (let number = 1; number <= 5; number += 1)
      await expect(ask(fetchJson, url)).rejects.toThrow('500');
    await expect(ask(fetchJson, `${url}?another`)).rejects.toThrow('for ada of client.example');
    await expect(ask(fetchJson, host.url('/broken', 'vendor.example'))).rejects.toThrow('500');
    await expect(as(fetchJson, 'grace', url)).rejects.toThrow('500');
  });

  // @shows AS-21.6
  test('is 60 per minute to one host for all people, including failures', async () => {
    const fetchJson = fetching();
    const url = host.answer('/broken', (_, response) => void response.writeHead(500).end());
    for (let number = 1; number <= 60; number += 1) {
      await expect(as(fetchJson, `person ${number}`, url)).rejects.toThrow('500');
    }
    const before = host.asked.length;
    await expect(as(fetchJson, 'person 61', url)).rejects.toThrow('of client.example');
    expect(host.asked).toHaveLength(before);
    await expect(as(fetchJson, 'person 62', host.url('/broken', 'vendor.example'))).rejects.toThrow(
      '500',
    );
  });

  // @shows AS-21.6
  test('is separate for each known document, so that invented URLs do not affect it', async () => {
    const fetchJson = fetching();
    const broken = host.answer('/broken', (_, response) => void response.writeHead(500).end());
    const url = host.publish('/plain.json', {});
    for (let number = 1; number <= 60; number += 1) {
      await expect(as(fetchJson, `person ${number}`, broken)).rejects.toThrow('500');
    }
    await expect(as(fetchJson, 'ada', url)).rejects.toThrow('of client.example');
    await expect(as(fetchJson, 'ada', url, true)).resolves.toBeDefined();
    // Another known document of the same host cannot use up this limit either.
    for (let number = 1; number <= 60; number += 1) {
      await expect(as(fetchJson, `person ${number}`, broken, true)).rejects.toThrow('500');
    }
    await expect(as(fetchJson, 'ada', broken, true)).rejects.toThrow(`of ${broken}`);
    await expect(as(fetchJson, 'ada', url, true)).resolves.toBeDefined();
  });

  test('is eight at once to one host, four for one person, and two for one person to one host', async () => {
    const fetchJson = fetching();
    const held: (() => void)[] = [];
    let expected = 0;
    let reached = () => {};
    host.answer('/slow', (_, response) => {
      held.push(() => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'));
      if (held.length === expected) reached();
    });
    const running: Promise<unknown>[] = [];
    /** Sends two more requests for this person, and waits until both have arrived. */
    async function begin(person: string, at = 'client.example'): Promise<void> {
      expected = held.length + 2;
      const arrived = new Promise<void>((resolve) => (reached = resolve));
      const url = host.url('/slow', at);
      running.push(as(fetchJson, person, url), as(fetchJson, person, url));
      await arrived;
    }
    const refused = (person: string, at = 'client.example') =>
      as(fetchJson, person, host.url('/slow', at)).catch(String);
    await begin('ada');
    expect(await refused('ada')).toContain('for ada of client.example');
    await begin('ada', 'vendor.example');
    expect(await refused('ada', 'other.example')).toContain('for ada within');
    for (const person of ['grace', 'linus', 'edsger']) await begin(person);
    expect(await refused('barbara')).toContain('fetched of client.example');
    for (const finish of held) finish();
    await Promise.all(running);
    host.publish('/plain.json', {});
    await ask(fetchJson, host.url('/plain.json'));
  });

  test('is 300 per minute in total, and the same again for known documents', async () => {
    const resolve = () => Promise.reject(new Error('No such host'));
    const fetchJson = fetching({ resolve });
    const to = (number: number, isKnown = false) =>
      as(fetchJson, `person ${number}`, `https://h${number}.example/`, isKnown).catch(String);
    for (let number = 1; number <= 300; number += 1)
      expect(await to(number)).toContain('cannot be fetched');
    expect(await to(301)).toContain('in total');
    expect(await to(301, true)).toContain('cannot be fetched');
    clock.advance(60);
    expect(await to(302)).toContain('cannot be fetched');
  });
});
