import type { Log } from '@portico/sql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mcpConfiguration } from '../configuration.ts';
import type { McpContext } from '../context.ts';
import { withoutToken } from '../../../../test/support/mcp-endpoint.ts';
import { ContentRoom } from './content-room.ts';
import type { Round } from './rounds.ts';
import { ToolCalls } from './tool-call.ts';
import { ask } from './tool-questions.ts';
import { createToolRegistry, ToolError, type ToolCall } from './tools.ts';

const ROUND: Round = {
  id: () => 'the call',
  answer: (name) =>
    ({ action: 'accept', content: { name } }) as unknown as ReturnType<Round['answer']>,
  state: { step: 2 },
  canAsk: (kind) => kind === 'page',
};
type Arguments = Readonly<Record<string, unknown>>;

/** Calls a tool, and returns its result, what was logged, and what the caller was notified of. */
async function call(
  handle: (args: Arguments, call: ToolCall) => unknown,
  {
    params = {},
    signal = new AbortController().signal,
    notify,
    config: settings = {},
    server = {},
  }: {
    readonly params?: Arguments;
    readonly signal?: AbortSignal;
    readonly notify?: (text: string) => void;
    readonly config?: object;
    readonly server?: object;
  } = {},
) {
  const [logged, notified]: unknown[][] = [[], []];
  const log = { error: (...line: readonly unknown[]) => void logged?.push(line) };
  const tools = createToolRegistry();
  tools.register({
    name: () => 'echo',
    description: () => '',
    inputSchema: () => ({ type: 'object', properties: { n: { type: 'integer' } } }),
    handle,
  });
  const tool = tools.find('echo');
  if (tool === null) throw new Error('The tool is not registered');
  const config = mcpConfiguration.parse(settings);
  const context = { config, server, log: log as unknown as Log } as unknown as McpContext;
  const caller = {
    signal,
    notify: notify ?? ((text: string) => void notified?.push(JSON.parse(text))),
    version: '2025-11-25',
    room: new ContentRoom(),
  };
  const asked = { name: 'echo', ...params };
  const result = await new ToolCalls(context).call(tool, asked, caller, ROUND);
  return { result, logged, notified };
}

const failed = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });

describe('a tool', () => {
  test('gets its arguments, and what belongs to its call', async () => {
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    let given: ToolCall | undefined;
    const params = { arguments: { n: 1 }, _meta: { traceparent: parent } };
    const { result } = await call(
      (args, of) => {
        given = of;
        return `${JSON.stringify(args)} ${String(of.signal.aborted)}`;
      },
      { params },
    );
    expect(result).toMatchObject({ content: [{ type: 'text', text: '{"n":1} false' }] });
    expect(given).toMatchObject({
      trace: { parent, state: null, baggage: null },
      id: 'the call',
      state: { step: 2 },
    });
    expect(given?.answer('size')).toEqual({ action: 'accept', content: { name: 'size' } });
    expect([given?.canAsk('page'), given?.canAsk('form')]).toEqual([true, false]);
    expect((await call((args) => JSON.stringify(args))).result).toMatchObject({
      content: [{ text: '{}' }],
    });
  });

  test('is not called with wrong arguments', async () => {
    const handle = vi.fn<() => string>();
    const { result } = await call(handle, { params: { arguments: { n: 'one' } } });
    const text = expect.stringMatching(/^The arguments do not match the schema: ./) as string;
    expect(result).toEqual(failed(text));
    expect(handle).not.toHaveBeenCalled();
  });

  test('can ask a question', async () => {
    const question = ask({ page: { message: 'Look.', url: 'https://shop.example/' } });
    expect((await call(() => question)).result).toBe(question);
  });

  test('that fails says why only with a ToolError', async () => {
    const told = await call(() => {
      throw new ToolError('Not today.');
    });
    expect([told.result, told.logged]).toEqual([failed('Not today.'), []]);
    const exception = new Error('secret');
    const { result, logged } = await call(() => Promise.reject(exception));
    expect(result).toEqual(failed('The tool failed.'));
    expect(logged).toEqual([['The tool {tool} failed: {exception}', { tool: 'echo', exception }]]);
  });

  test('that takes too long is an error, and logged unless the caller is gone', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const slow = call(() => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(120_000);
    const { result, logged } = await slow;
    expect(result).toEqual(failed('The tool took longer than 120 seconds.'));
    expect(logged).toEqual([
      [
        'The tool {tool} {took} (mcp:tool_timeout)',
        { tool: 'echo', took: 'took longer than 120 seconds' },
      ],
    ]);
    const gone = await call(() => new Promise(() => {}), { signal: AbortSignal.abort() });
    expect([gone.result, gone.logged]).toEqual([failed('The call was cancelled.'), []]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('mcp:audit', () => {
  /** Calls the tool in a request without a token, and returns the event. */
  async function eventOf(handle: () => unknown) {
    const events: unknown[] = [];
    const audit = async (event: unknown) => void events.push(event);
    await withoutToken(() => call(handle, { config: { audit: true }, server: { audit } }));
    expect(events).toHaveLength(1);
    return events[0] as { readonly duration: number };
  }
  const event = (outcome: string) => ({
    type: 'tool_called',
    tool: 'echo',
    clientId: '',
    person: null,
    outcome,
    duration: expect.any(Number) as number,
  });

  test('emits an event for each call, with its outcome and how long it took', async () => {
    const began = performance.now();
    const { duration } = await eventOf(() => 'done');
    expect(duration).toBeLessThanOrEqual(Math.ceil(performance.now() - began));
    expect(await eventOf(() => 'done')).toEqual(event('succeeded'));
    const failing = () => {
      throw new ToolError('Not today.');
    };
    expect(await eventOf(failing)).toEqual(event('failed'));
    const question = ask({ page: { message: 'Look.', url: 'https://shop.example/' } });
    expect(await eventOf(() => question)).toEqual(event('asked'));
  });

  test('is off by default', async () => {
    const audit = vi.fn<() => Promise<void>>();
    await call(() => 'done', { server: { audit } });
    expect(audit).not.toHaveBeenCalled();
  });
});

describe('progress', () => {
  const params = { _meta: { progressToken: 7 } };
  const sent = (progress: object) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 7, ...progress },
  });

  test('is sent if the caller asked for it, and if it is a number', async () => {
    const { notified } = await call(
      async (_, { progress }) => {
        await progress(1);
        await progress(2, 3, 'Nearly.');
        await progress(Number.NaN);
        await progress(2, Number.POSITIVE_INFINITY);
        await progress(0, 0);
      },
      { params },
    );
    expect(notified).toEqual([
      sent({ progress: 1 }),
      sent({ progress: 2, total: 3, message: 'Nearly.' }),
      sent({ progress: 0, total: 0 }),
    ]);
    const unasked = await call(async (_, { progress }) => progress(1));
    expect([unasked.notified, unasked.logged]).toEqual([[], []]);
  });

  test('is not sent after the call', async () => {
    let late: ToolCall['progress'] | undefined;
    const { notified } = await call(
      (_, { progress }) => {
        late = progress;
      },
      { params },
    );
    await late?.(1);
    expect(notified).toEqual([]);
  });

  test('that cannot be sent does not matter', async () => {
    const { result } = await call(
      async (_, { progress }) => {
        await progress(1);
        await progress(1, undefined, 1n as unknown as string);
        return 'done';
      },
      {
        params,
        notify() {
          throw new Error('The stream is closed');
        },
      },
    );
    expect(result).toMatchObject({ content: [{ text: 'done' }] });
  });
});
