import type { LogContext } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { currentContext, currentRequestId } from '../http/context.ts';
import { getRequestId } from '../http/request-id.ts';
import { dpopOffer } from '../http/dpop.ts';
import { currentOrigin, runFrom } from '../auditing/origin.ts';
import type { BearerError } from '../errors.ts';
import { Failures } from './replies/failures.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { token, tokenLookUp } from '../resource/token-accessor.ts';
import type { UsableToken } from '../resource/bearer.ts';
import type { Server } from '../server.ts';
import type { Answering } from './endpoint.ts';
import { TokenRoutes } from './protected-routes.ts';

const METADATA = 'https://portal.example/.well-known/oauth-protected-resource';
const DPOP = dpopOffer({ required: false, algorithms: ['ES256'] });
const SENT = { 'X-Request-Id': 'the-request' };

/**
 * The data about a token, by the token's value. The person who allowed `usable` has the permission
 * for one of its two scopes.
 */
const TOKENS = {
  usable: {
    clientId: 'notebook',
    user: null,
    subject: null,
    scopes: ['notes:read', 'notes:write'],
    thumbprint: null,
  },
  bound: {
    clientId: 'notebook',
    user: null,
    subject: null,
    scopes: ['notes:write'],
    thumbprint: 'of its key',
  },
  unproved: { code: 'invalid_token', detail: 'no proof', message: 'The proof is not good.' },
} as unknown as Readonly<Record<string, UsableToken>>;

/** Starts a server's routes with these tokens. Returns them with their log. */
function start(
  changes: Partial<Answering> & { readonly metadataUrl?: string; readonly measuring?: null } = {},
) {
  const lines: (readonly [string, LogContext])[] = [];
  const measured: unknown[] = [];
  const seen: unknown[] = [];
  const state = { problem: null as Error | null, together: 0, made: 0 };
  const log = {
    debug() {},
    info: (text: string, context: LogContext = {}) =>
      void lines.push([text, { ...context, during: [currentContext(), currentRequestId()] }]),
    warning() {},
    error: (text: string, context: LogContext = {}) => void lines.push([text, context]),
  };
  const bearerTokens = {
    fromHeader: async (authorization: string | null, asked: (() => Request) | undefined) => {
      seen.push([asked?.().url ?? null, currentContext(), currentRequestId()]);
      if (state.problem !== null) throw state.problem;
      if (authorization === null)
        return { code: 'missing_token', detail: 'there is no header' } as const;
      const found = TOKENS[authorization];
      return (
        found ??
        ({ code: 'invalid_token', detail: 'nobody has it', proof: { answer: 'next' } } as const)
      );
    },
    honouredScopes: async ({ scopes: has }: UsableToken) =>
      has.filter((name) => name === 'notes:read'),
  };
  const scopes = createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' });
  const database = {
    isUnavailable: () => false,
    readTogether: async <T>(work: () => Promise<T>) => {
      state.together += 1;
      return work();
    },
  };
  const host = {
    log,
    clientAddress: () => '192.0.2.1',
    render: () => Promise.reject(new Error('a page')),
  };
  const measuring = {
    refused: (endpoint: string, error: BearerError) => void measured.push([endpoint, error.code]),
    answered: (endpoint: string, status: number) => void measured.push([endpoint, status]),
  };
  const { metadataUrl = null, measuring: used = measuring, ...others } = changes;
  const server = {
    host,
    database,
    migrations: async () => [],
    config: { name: 'Portal' },
    measuring: used,
  } as unknown as Server;
  const answering = { server, failures: new Failures(server, false), binding: null, runFrom: null };
  const lookUp = tokenLookUp(bearerTokens as never, { scopes });
  const routes = new TokenRoutes({ ...answering, ...others }, lookUp, metadataUrl);
  const requestWith = (authorization: string | null) => {
    const headers = new Headers(SENT);
    if (authorization !== null) headers.set('Authorization', authorization);
    return new Request('https://portal.example/notes', { headers });
  };
  return {
    lines,
    measured,
    seen,
    state,
    routes,
    requestWith,
    /** Returns the response to a request with this header. The handler calls `work`. */
    ask: (authorization: string | null, work: () => void, context?: unknown) =>
      routes.withToken(
        requestWith(authorization),
        async () => {
          work();
          return new Response('done');
        },
        context,
      ),
    /** Returns the error that `work` throws if the routes know no request. */
    refusalOf: async (authorization: string | null, work: () => void): Promise<BearerError> => {
      const found = await routes.lookUpToken(authorization);
      if ('failure' in found) throw new Error('the look-up failed');
      try {
        found.run(work);
      } catch (error) {
        return error as BearerError;
      }
      throw new Error('nothing was refused');
    },
  };
}

const challengeOf = (response: Response) => response.headers.get('www-authenticate');

describe('a handler with a token', () => {
  test('runs and returns its response, after a single lookup of the token', async () => {
    const { ask, seen, state, lines, measured } = start();
    const context = { of: 'a framework' };
    const response = await ask('usable', () => token().requireScope('notes:read'), context);
    expect([response.status, await response.text()]).toEqual([200, 'done']);
    expect(seen).toEqual([['https://portal.example/notes', context, 'the-request']]);
    expect(state.together).toBe(1);
    expect([lines, measured]).toEqual([[], []]);
  });

  test('runs without a request object', async () => {
    const { routes, seen } = start();
    const found = await routes.lookUpToken('usable');
    expect('run' in found && found.run(() => token().clientId())).toBe('notebook');
    expect(seen).toEqual([[null, undefined, null]]);
  });

  test('adds the known request id to what is recorded while it runs', async () => {
    const { routes, requestWith } = start({ runFrom });
    const origin = () =>
      currentOrigin(() => `${String(currentContext())} of ${token().clientId()}`);
    const request = requestWith('usable');
    const found = await routes.lookUpToken('usable', () => request, 'context');
    expect('run' in found && found.run(origin)).toEqual({
      address: 'context of notebook',
      requestId: 'the-request',
    });
    const unknown = await routes.lookUpToken('usable');
    expect('run' in unknown && unknown.run(origin)).toEqual({ address: null, requestId: null });
    const { routes: plain } = start();
    const unrecorded = await plain.lookUpToken('usable', () => request);
    expect('run' in unrecorded && unrecorded.run(origin)).toEqual({
      address: null,
      requestId: null,
    });
  });

  test('throws its own errors unchanged', async () => {
    const { ask, lines } = start();
    const broken = ask('usable', () => {
      throw new Error('its own');
    });
    await expect(broken).rejects.toThrow('its own');
    expect(lines).toEqual([]);
  });
});

describe('a refusal of a request with a token', () => {
  test('is sent, is logged once with client and address, and is measured once', async () => {
    const { ask, lines, measured } = start();
    const response = await ask(
      'usable',
      () => {
        expect(() => token().requireScope('notes:write')).toThrow('does not reach');
        token().requireScope('notes:write');
      },
      'context',
    );
    expect([response.status, response.headers.get('x-request-id')]).toEqual([403, 'the-request']);
    expect(challengeOf(response)).toBe(
      'Bearer realm="oauth", error="insufficient_scope", error_description="The access token does not reach this resource.", scope="notes:write"',
    );
    expect(lines).toEqual([
      [
        '{endpoint} refused: {error} ({detail})',
        {
          endpoint: 'token()',
          requestId: 'the-request',
          error: 'insufficient_scope',
          detail: 'the person does not have the permission that the scope notes:write requires',
          clientId: 'notebook',
          address: '192.0.2.1',
          during: ['context', 'the-request'],
        },
      ],
    ]);
    expect(measured).toEqual([['token()', 'insufficient_scope']]);
  });

  test('has no request id or address if the request is unknown', async () => {
    const { refusalOf, lines } = start();
    const error = await refusalOf(null, () => token().requireUsable());
    expect(error).toMatchObject({
      code: 'missing_token',
      scope: null,
      requestId: null,
      binding: null,
    });
    expect(lines).toMatchObject([
      ['{endpoint} refused: {error} ({detail})', { requestId: null, address: null }],
    ]);
  });

  test('belongs to one request, and a refusal of a different one is logged again', async () => {
    const { ask, lines } = start();
    for (let count = 0; count < 2; count += 1) await ask(null, () => token().requireUsable());
    expect(lines).toHaveLength(2);
  });

  test('is not measured if measuring is disabled', async () => {
    const { ask, lines, state } = start({ measuring: null });
    expect((await ask(null, () => token().requireUsable())).status).toBe(401);
    state.problem = new Error('out of order');
    expect((await ask(null, () => token().requireUsable())).status).toBe(500);
    expect(lines).toHaveLength(2);
  });

  test.each([
    ['without a token', null, 'missing_token', null],
    ['for an invalid token', 'invented', 'invalid_token', null],
    ['for a token without the scope', 'usable', 'insufficient_scope', 'notes:write'],
  ])(
    '%s contains the scope only if a token with it would help',
    async (_, authorization, code, scope) => {
      const { refusalOf } = start();
      const error = await refusalOf(authorization, () => token().requireScope('notes:write'));
      expect([error.code, error.scope, error.resourceMetadata]).toEqual([code, scope, null]);
    },
  );

  test.each([
    ['without a token', null, 'missing_token'],
    ['for an invalid token', 'invented', 'invalid_token'],
    ['for a scope that this person cannot get', 'usable', 'access_denied'],
  ])(
    '%s contains the metadata URL and the scope, if challenges are enabled',
    async (_, authorization, code) => {
      const { refusalOf } = start({ metadataUrl: METADATA });
      const error = await refusalOf(authorization, () => token().requireScope('notes:write'));
      expect([error.code, error.scope, error.resourceMetadata]).toEqual([
        code,
        'notes:write',
        METADATA,
      ]);
    },
  );

  test('for a missing scope contains that scope, even if challenges are enabled', async () => {
    const { refusalOf } = start({ metadataUrl: METADATA });
    const lacking = await refusalOf('bound', () => token().requireScope('notes:read'));
    expect(lacking).toMatchObject({ code: 'insufficient_scope', scope: 'notes:read' });
  });

  test('has the message of the refusal, or else that of its code', async () => {
    const { refusalOf } = start();
    const said = await refusalOf('unproved', () => token().requireUsable());
    expect([said.code, said.message]).toEqual(['invalid_token', 'The proof is not good.']);
    const other = await refusalOf('invented', () => token().requireUsable());
    expect(other.message).toMatch(/^The (?:access )?token is/);
  });

  test('mentions bound tokens if they are enabled, and the required nonce', async () => {
    const { refusalOf } = start({ binding: DPOP });
    const of = async (authorization: string | null) =>
      (await refusalOf(authorization, () => token().requireScope('notes:read'))).binding;
    expect(await of(null)).toEqual({ ...DPOP, presented: false, answer: null });
    expect(await of('invented')).toEqual({ ...DPOP, presented: true, answer: 'next' });
    expect(await of('bound')).toEqual({ ...DPOP, presented: true, answer: null });
  });
});

describe('a token lookup that fails', () => {
  const problem = new Error('out of order');

  test('runs no handler, and the response and the log contain the request id', async () => {
    const { ask, state, lines, measured } = start();
    state.problem = problem;
    const response = await ask('usable', () => {
      throw new Error('the handler was run');
    });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([500, 'the-request']);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(lines).toEqual([
      [
        '{endpoint} failed: {exception}',
        { endpoint: 'token()', requestId: 'the-request', exception: problem },
      ],
    ]);
    expect(measured).toEqual([['token()', 500]]);
  });

  test('has no request id if it is unknown', async () => {
    const { routes, state, lines } = start();
    state.problem = problem;
    const found = await routes.lookUpToken('usable');
    expect('failure' in found && found.failure.headers.has('x-request-id')).toBe(false);
    expect(lines).toMatchObject([['{endpoint} failed: {exception}', { requestId: null }]]);
  });

  test('does not read the request again if its id is known', async () => {
    const { routes, requestWith, lines } = start();
    const request = requestWith(null);
    const found = await routes.lookUpToken(null, () => request);
    expect(() => 'run' in found && found.run(() => token().requireUsable())).toThrow(
      'needs an access token',
    );
    expect(lines).toMatchObject([
      ['{endpoint} refused: {error} ({detail})', { requestId: getRequestId(request) }],
    ]);
  });
});
