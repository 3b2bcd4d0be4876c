import { getEventListeners } from 'node:events';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { McpContext } from '../context.ts';
import { Contributions } from '../contributions.ts';
import { given, MAIN, openTokens, withoutToken } from '../../../../test/support/mcp-endpoint.ts';
import type { ResourceRegistry } from '../features/resources/resources.ts';
import { FEATURES } from '../features.ts';
import { getRefusal } from '../refusal.ts';
import type { ToolInterface } from '../tools/tools.ts';
import { Exchange } from './exchange.ts';
import type { Messages } from './messages.ts';

const NEW = '2026-07-28';
const LATEST = '2025-11-25';
const BATCHING = '2025-03-26';

interface Settings {
  readonly streaming?: boolean;
  readonly versions?: readonly string[];
  /** What the tool `work` does. */
  readonly handle?: ToolInterface['handle'];
}

function exchangeOf({
  streaming = false,
  versions = [NEW, LATEST, BATCHING],
  handle,
}: Settings = {}) {
  const mcp = { transport: { streaming }, protocol_versions: versions };
  const context = new McpContext(given({ mcp }).options);
  const contributions = new Contributions(context, FEATURES);
  if (handle !== undefined)
    context.tools.register({
      name: () => 'work',
      description: () => 'Works',
      inputSchema: () => ({ type: 'object' }),
      handle,
    });
  const registry = contributions.registries.get('resources') as ResourceRegistry;
  registry.register({ uri: () => 'a:b', name: () => 'B', read: () => 'text' });
  return new Exchange(context, contributions);
}
const bodyWith = (requests: readonly JSONRPCRequest[], more: Partial<Messages>): Messages => ({
  requests,
  isBatch: false,
  initializes: false,
  calledTools: [],
  cancelled: [],
  metadata: null,
  ...more,
});
function headersWith(version: string | null) {
  return { 'X-Request-Id': 'r1', ...(version === null ? {} : { 'MCP-Protocol-Version': version }) };
}

/** Returns a function that sends messages to an endpoint with these settings. */
function started(settings?: Settings) {
  const exchange = exchangeOf(settings);
  return (
    requests: readonly JSONRPCRequest[],
    more: Partial<Messages> = {},
    version: string | null = LATEST,
    signal = new AbortController().signal,
  ) => {
    const asked = new Request(MAIN, { headers: headersWith(version), signal });
    return exchange.answer(asked, bodyWith(requests, more));
  };
}

const request = (id: number, method = 'ping') => ({ jsonrpc: '2.0' as const, id, method });
const pong = (id: number) => ({ jsonrpc: '2.0', id, result: {} });
const OF_NEW = { metadata: { capabilities: {} } };
const versionFor = (more: object) => ('metadata' in more ? NEW : LATEST);
const JSON_TYPE = 'application/json';

/** Returns the status, the media type and the body of a response with the request's id. */
async function partsOf(response: Response) {
  const { status, headers } = response;
  expect(headers.get('x-request-id')).toBe('r1');
  return [status, headers.get('content-type'), await response.json()];
}
/** Returns the messages of a stream. */
async function eventsOf(response: Response) {
  const { status, headers } = response;
  const names = ['content-type', 'cache-control', 'x-accel-buffering', 'x-request-id'];
  expect([status, ...names.map((name) => headers.get(name))]).toEqual([
    200,
    'text/event-stream',
    'no-cache, no-transform',
    'no',
    'r1',
  ]);
  const events = (await response.text()).split('\n\n');
  expect(events.pop()).toBe('');
  return events.map((event) => {
    const [kind, data = ''] = event.split('\n');
    expect([kind, data.slice(0, 6)]).toEqual(['event: message', 'data: ']);
    return JSON.parse(data.slice(6)) as unknown;
  });
}

describe('an answer as JSON', () => {
  test('is a single one, or a list for a list', async () => {
    const ask = started();
    expect(await partsOf(await ask([request(1)]))).toEqual([200, JSON_TYPE, pong(1)]);
    const both = await ask([request(1), request(2)], { isBatch: true }, BATCHING);
    expect(await partsOf(both)).toEqual([200, JSON_TYPE, [pong(1), pong(2)]]);
    const one = await ask([request(1)], { isBatch: true }, null);
    expect(await partsOf(one)).toEqual([200, JSON_TYPE, [pong(1)]]);
  });

  test('of 2026-07-28 has the status of the protocol', async () => {
    const ask = started();
    const list = await partsOf(await ask([request(1, 'tools/list')], OF_NEW, NEW));
    expect(list.slice(0, 2)).toEqual([200, JSON_TYPE]);
    expect(list[2]).toMatchObject({ id: 1, result: { tools: [] } });
    const unknown = await partsOf(await ask([request(1, 'doors/open')], OF_NEW, NEW));
    expect(unknown.slice(0, 2)).toEqual([404, JSON_TYPE]);
  });

  test('is empty if no message needs one', async () => {
    for (const streaming of [true, false]) {
      const accepted = await started({ streaming })([]);
      expect([accepted.status, accepted.body]).toEqual([202, null]);
    }
  });

  test('is missing for a caller who is gone', async () => {
    for (const more of [{}, OF_NEW]) {
      const gone = await started()([request(1)], more, versionFor(more), AbortSignal.abort());
      expect(getRefusal(gone)).toEqual({ status: 499, message: 'The caller is gone.' });
      const leaving = new AbortController();
      const asked = started()([request(1)], more, versionFor(more), leaving.signal);
      leaving.abort();
      expect(getRefusal(await asked)).toEqual({ status: 499, message: 'The caller is gone.' });
    }
  });
});

describe('an answer as a stream', () => {
  test('has an event for each message', async () => {
    const ask = started({ streaming: true });
    const { signal } = new AbortController();
    const response = await ask([request(1), request(2)], { isBatch: true }, BATCHING, signal);
    expect(await eventsOf(response)).toEqual([pong(1), pong(2)]);
  });

  test('of 2026-07-28 has one event, and an error has a status without a stream', async () => {
    const ask = started({ streaming: true });
    const list = await eventsOf(await ask([request(1, 'tools/list')], OF_NEW, NEW));
    expect(list).toMatchObject([{ id: 1, result: { tools: [] } }]);
    const unknown = await partsOf(await ask([request(1, 'doors/open')], OF_NEW, NEW));
    expect(unknown.slice(0, 2)).toEqual([404, JSON_TYPE]);
  });

  test('leaves no listener behind at the signal of the request', async () => {
    for (const [more, method] of [
      [{}, 'ping'],
      [OF_NEW, 'tools/list'],
      [OF_NEW, 'doors/open'],
    ] as const) {
      const asked = new Request(MAIN, { headers: headersWith(versionFor(more)) });
      const exchange = exchangeOf({ streaming: true });
      const response = await exchange.answer(asked, bodyWith([request(1, method)], more));
      await response.text();
      expect(getEventListeners(asked.signal, 'abort')).toEqual([]);
    }
  });

  test('ends without an answer if the caller leaves', async () => {
    for (const more of [{}, OF_NEW]) {
      const leaving = new AbortController();
      const asked = started({ streaming: true })(
        [request(1, 'tools/list')],
        more,
        versionFor(more),
        leaving.signal,
      );
      leaving.abort();
      expect(await (await asked).text()).toBe('');
    }
  });
});

describe('a tool call', () => {
  const MIB = 1024 * 1024;
  const params = { name: 'work', arguments: {}, _meta: { progressToken: 'p' } };
  const calling = { ...request(1, 'tools/call'), params };
  const progressed = (progress: object) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 'p', ...progress },
  });
  const DONE = { id: 1, result: { content: [{ type: 'text', text: 'done' }] } };
  /** Calls the tool. The work gets the response. */
  const asking = (
    settings: Settings,
    more: Partial<Messages>,
    work: (response: Response) => Promise<unknown>,
    signal?: AbortSignal,
  ) =>
    withoutToken(async () =>
      work(await started(settings)([calling], more, versionFor(more), signal)),
    );

  test.each([[{}], [OF_NEW]])('sends its progress only as a stream: %j', async (more) => {
    const handle: ToolInterface['handle'] = async (_, { progress }) => {
      await progress(1);
      await progress(2);
      return 'done';
    };
    await asking({ handle, streaming: true }, more, async (response) => {
      expect(await eventsOf(response)).toMatchObject([
        progressed({ progress: 1 }),
        progressed({ progress: 2 }),
        DONE,
      ]);
    });
    await asking({ handle }, more, async (response) => {
      expect(await response.json()).toMatchObject(DONE);
    });
  });

  test.each([[{}], [OF_NEW]])('opens its stream with the first progress: %j', async (more) => {
    const ending = Promise.withResolvers<string>();
    const handle: ToolInterface['handle'] = async (_, { progress }) => {
      await progress(1);
      return ending.promise;
    };
    await asking({ handle, streaming: true }, more, async (response) => {
      ending.resolve('done');
      expect(await eventsOf(response)).toMatchObject([progressed({ progress: 1 }), DONE]);
    });
  });

  test.each([
    [{}, 'closes the stream'],
    [OF_NEW, 'closes the stream'],
    [{}, 'ends the request'],
    [OF_NEW, 'ends the request'],
  ])('is aborted if the caller of %j %s', async (more, how) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const [aborted, ended] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const handle: ToolInterface['handle'] = async (_, { progress, signal }) => {
      signal.addEventListener('abort', () => aborted.resolve('aborted'));
      await progress(1);
      await aborted.promise;
      setImmediate(() => ended.resolve());
      return 'done';
    };
    const leaving = new AbortController();
    const leave = async (response: Response) => {
      if (how === 'closes the stream') await response.body?.cancel();
      else leaving.abort();
      expect(await aborted.promise).toBe('aborted');
      await ended.promise;
    };
    await asking({ handle, streaming: true }, more, leave, leaving.signal);
    expect(unhandled).toEqual([]);
  });

  test.each([[{}], [OF_NEW]])('keeps its connection open: %j', async (more) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const ending = Promise.withResolvers<string>();
    const handle: ToolInterface['handle'] = async (_, { progress }) => {
      await progress(1);
      return ending.promise;
    };
    await asking({ handle, streaming: true }, more, async (response) => {
      vi.advanceTimersByTime(30_000);
      ending.resolve('done');
      const [, ...others] = (await response.text()).split('\n\n');
      expect(others.slice(0, 2)).toEqual([': keepalive', ': keepalive']);
      expect(vi.getTimerCount()).toBe(0);
    });
    const again = started({ handle, streaming: true });
    await withoutToken(async () => {
      await (await again([calling], more, versionFor(more))).body?.cancel();
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('discards progress while 1 MiB waits for the caller', async () => {
    const event = (message: string) =>
      `event: message\ndata: ${JSON.stringify(progressed({ progress: 1, message }))}\n\n`;
    for (const [size, sent] of [
      [MIB, 1],
      [MIB - 1, 2],
    ] as const) {
      const message = 'x'.repeat(size - event('').length);
      const isSent = Promise.withResolvers<void>();
      const handle: ToolInterface['handle'] = async (_, { progress }) => {
        await progress(1, undefined, message);
        await progress(2);
        await progress(3);
        isSent.resolve();
        return 'done';
      };
      await asking({ handle, streaming: true }, {}, async (response) => {
        await isSent.promise;
        expect(await eventsOf(response)).toHaveLength(sent + 1);
      });
    }
  });
});

describe('notifications/cancelled', () => {
  test.each([true, false])(
    'ends the call of the same authorization (stream: %s)',
    async (streaming) => {
      const tokens = await openTokens();
      onTestFinished(() => tokens.close());
      const begun = Promise.withResolvers<AbortSignal>();
      const handle: ToolInterface['handle'] = (_, { signal }) => {
        begun.resolve(signal);
        return new Promise(() => {});
      };
      const ask = started({ handle, streaming });
      const params = { name: 'work', arguments: {} };
      const answer = tokens.withToken(0, async () =>
        (await ask([{ ...request(1, 'tools/call'), params }])).text(),
      );
      const signal = await begun.promise;
      const cancel = () => ask([], { cancelled: [1] });
      await tokens.withToken(1, cancel);
      expect(signal.aborted).toBe(false);
      expect((await tokens.withToken(0, cancel)).status).toBe(202);
      expect(signal.aborted).toBe(true);
      expect(await answer).toContain('The call was cancelled.');
    },
  );
});

test('a resource that is read as 2026-07-28 has the members of this version', async () => {
  const reading = { ...request(1, 'resources/read'), params: { uri: 'a:b' } };
  for (const streaming of [true, false]) {
    const answer = await started({ streaming })([reading], OF_NEW, NEW);
    const text = (await answer.text()).replace('event: message\ndata: ', '');
    expect(JSON.parse(text)).toMatchObject({
      result: { contents: [{ uri: 'a:b', text: 'text' }], cacheScope: 'private', ttlMs: 0 },
    });
  }
});

describe('the version of a request', () => {
  const refusalOf = async (response: Response) => [
    getRefusal(response),
    ((await response.json()) as { readonly error: object }).error,
  ];

  test.each([
    ['2025-06-18', '2025-06-18'],
    ['x2025-06-18', 'unknown'],
    ['2025-06-18x', 'unknown'],
    ['secret', 'unknown'],
  ])('%j is refused, and the log contains %j', async (version, told) => {
    const known = `(supported versions: ${NEW}, ${LATEST}, ${BATCHING})`;
    expect(await refusalOf(await started()([request(1)], {}, version))).toEqual([
      { status: 400, message: `Unsupported protocol version: ${told} ${known}` },
      {
        code: -32_000,
        message: `Bad Request: Unsupported protocol version: ${version} ${known}`,
      },
    ]);
  });

  test('is 2025-03-26 if the request does not name one', async () => {
    const older = await started({ versions: [LATEST] })([request(1)], {}, null);
    expect(getRefusal(older)?.status).toBe(400);
    expect((await started()([request(1)], {}, null)).status).toBe(200);
  });

  test('is not checked for initialize, which must be alone', async () => {
    const ask = started();
    const initializes = { initializes: true };
    expect((await ask([request(1)], initializes, 'none')).status).toBe(200);
    const batch = await ask([request(1)], { ...initializes, isBatch: true }, BATCHING);
    const message = 'Invalid Request: Only one initialization request is allowed';
    expect(await refusalOf(batch)).toEqual([
      { status: 400, message },
      { code: -32_600, message },
    ]);
  });
});
