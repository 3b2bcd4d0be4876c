import { describe, expect, test } from 'vitest';
import { MountedEndpoints, type Mountable } from './dispatch.ts';
import { createHandler } from './index.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly context: object | undefined;
}

/** A host whose log keeps its lines. */
function hostWith(lines: Line[]): NonNullable<Mountable['host']> {
  const write = (level: string) => (message: string, context?: object) =>
    void lines.push({ level, message, context });
  const log = {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
  };
  return { log };
}

const endpoint = (
  name: string,
  path: string,
  methods: Mountable['endpoints'][number]['methods'],
  more: object = {},
) => ({ name, path, methods, handle: async () => new Response(name), ...more });

const ENDPOINTS = [
  endpoint('read', '/api/things', ['GET']),
  endpoint('write', '/api/things', ['POST', 'PUT']),
  endpoint('nothing', '/api/things', ['PATCH', 'DELETE'], { refusesMethods: true }),
  endpoint('closed', '/closed', ['GET'], { refusesMethods: true }),
];

const nameOf = (found: unknown) =>
  typeof found === 'object' && found !== null && 'name' in found ? found.name : found;

describe('the endpoint of a request', () => {
  test('has exactly its path and its method, and GET includes HEAD', () => {
    const mounted = new MountedEndpoints([{ endpoints: ENDPOINTS }]);
    const found = (method: string, target: string) => nameOf(mounted.dispatch(method, target));
    expect(found('GET', '/api/things')).toBe('read');
    expect(found('HEAD', '/api/things?a=/closed')).toBe('read');
    expect(found('PUT', '/api/things?')).toBe('write');
    for (const other of ['', '/', '?/closed', '/api/things/', '/api/Things', '/api%2Fthings'])
      expect(found('GET', other)).toBeNull();
  });

  test('is refused for another method, with the methods of the path, and this is logged', async () => {
    const lines: Line[] = [];
    const mounted = new MountedEndpoints([
      { endpoints: [] },
      { endpoints: ENDPOINTS, host: hostWith(lines) },
    ]);
    const refusal = async (method: string, path: string) => {
      const found = mounted.dispatch(method, path);
      if (found === null || !('refuse' in found)) throw new Error('It is not refused');
      const response = found.refuse('id-7');
      return [response.status, response.headers.get('allow'), await response.json()];
    };
    const body = { error: 'invalid_request' };
    expect(await refusal('OPTIONS', '/api/things')).toEqual([405, 'GET, POST, PUT, HEAD', body]);
    expect(await refusal('get', '/closed')).toEqual([405, '', body]);
    expect(lines).toMatchObject([
      {
        level: 'info',
        message: '{endpoint} refused: {error} ({detail})',
        context: {
          endpoint: 'read',
          requestId: 'id-7',
          error: 405,
          detail: 'the endpoint at this path does not accept the method of the request',
          clientId: null,
          address: null,
        },
      },
      { level: 'info', context: { endpoint: 'closed' } },
    ]);
    const silent = new MountedEndpoints([{ endpoints: ENDPOINTS }]).dispatch('OPTIONS', '/closed');
    expect(silent !== null && 'refuse' in silent && silent.refuse('id').status).toBe(405);
  });
});

describe('the warning about a prefix', () => {
  test('is logged once, if a path ends with that of an endpoint', () => {
    const lines: Line[] = [];
    const mounted = new MountedEndpoints([{ endpoints: ENDPOINTS, host: hostWith(lines) }]);
    const absolute = 'https://app.example/closed';
    for (const target of ['/other', '/closed/', '/closed/more', absolute, 'closed'])
      expect(mounted.dispatch('GET', target)).toBeNull();
    expect(lines).toEqual([]);
    for (const path of ['/auth/closed', '/auth/closed', '/v1/api/things'])
      expect(mounted.dispatch('GET', path)).toBeNull();
    expect(lines).toEqual([
      {
        level: 'warning',
        message: expect.stringContaining('ends with {path} but matches no endpoint') as string,
        context: { path: '/closed' },
      },
    ]);
  });

  test('is not logged after a request has reached an endpoint, or without a log', () => {
    const lines: Line[] = [];
    const mounted = new MountedEndpoints([{ endpoints: ENDPOINTS, host: hostWith(lines) }]);
    expect(nameOf(mounted.dispatch('GET', '/closed'))).toBe('closed');
    expect(mounted.dispatch('GET', '/auth/closed')).toBeNull();
    expect(lines).toEqual([]);
    const without = new MountedEndpoints([{ endpoints: ENDPOINTS }]);
    expect(without.dispatch('GET', '/auth/closed')).toBeNull();
  });

  test('tells each server that it is mounted', () => {
    const told: string[] = [];
    const mounted = new MountedEndpoints([
      { endpoints: [], mounted: () => told.push('one') },
      { endpoints: [] },
      { endpoints: [], mounted: () => told.push('two') },
    ]);
    expect(mounted.dispatch('GET', '/')).toBeNull();
    expect(told).toEqual(['one', 'two']);
  });
});

test('a response to HEAD has the status and headers of GET, also if GET has no body', async () => {
  const handle = async () => new Response(null, { status: 204, headers: { ETag: '"a"' } });
  const answer = createHandler({ endpoints: [endpoint('empty', '/empty', ['GET'], { handle })] });
  const found = await answer(new Request('https://app.example/empty', { method: 'HEAD' }));
  expect([found?.status, found?.headers.get('ETag'), found?.body]).toEqual([204, '"a"', null]);
});
