import { OverloadedError, type LogContext } from '@portico/sql';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AuthorizationPageError, HostTimeoutError, OAuthError } from '../../errors.ts';
import { KeysLostError, SignerError } from '../../keys/signing-key.ts';
import { createWords } from '../../pages/words.ts';
import type { Server } from '../../server.ts';
import { Failures } from './failures.ts';
import { messageReply } from './message-page.ts';
import { QueryMode } from './query-mode.ts';
import type { Reply } from './responses.ts';

const REQUEST = new Request('https://app.example/oauth/authorize');
const WORDS = createWords('xx', [
  { locale: 'xx', catalog: { 'error.fault.title': 'A foreign title' } },
]);
const ABOUT = { endpoint: 'orders', requestId: 'the-request', asPage: false, request: null };
const PAGE = { ...ABOUT, asPage: true, request: REQUEST };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Resolves when the work that the failures do not wait for has ended. */
const settled = () => vi.advanceTimersByTimeAsync(0);

/** Starts the failures of a server. `pending` are the migrations that it does not have yet. */
function start({
  showsDetails = false,
  isUnavailable = false,
  pending = [] as readonly string[] | Error,
  render = async (view: string, data: object): Promise<string> => JSON.stringify({ view, data }),
} = {}) {
  const lines: (readonly [string, string, LogContext])[] = [];
  const note = (level: string) => (text: string, context: LogContext) =>
    void lines.push([level, text, context]);
  const server = {
    config: { name: 'Portal' },
    database: { isUnavailable: () => isUnavailable },
    host: { log: { error: note('error'), warning: note('warning') }, render },
    speaking: { of: async () => WORDS, headers: () => ({}) },
    migrations: async () => {
      if (pending instanceof Error) throw pending;
      const steps = pending.map((name) => ({ name, appliedAt: null }));
      return [{ name: 'applied', appliedAt: '2026-01-01' }, ...steps];
    },
  } as unknown as Server;
  return { failures: new Failures(server, showsDetails), server, lines };
}

const bodyOf = ({ body }: Reply): unknown => JSON.parse(String(body));
/** Returns what a page shows. The other data are the same on each page. */
function shown(reply: Reply) {
  const { view, data } = bodyOf(reply) as { view: string; data: Record<string, unknown> };
  const { title, message, status, requestId, detail, link, serverName } = data;
  expect([view, serverName, status]).toEqual(['oauth/error', 'Portal', reply.status]);
  return { title, message, requestId, detail, link };
}

const UNAVAILABLE = {
  status: 503,
  headers: { 'Retry-After': '2', 'Cache-Control': 'no-store' },
};
const failed = (exception: unknown) => [
  'error',
  '{endpoint} failed: {exception}',
  { endpoint: 'orders', requestId: 'the-request', exception },
];
const missing = (steps: string) => [
  'error',
  'Some database migrations are not applied: {steps}; run npx portico db:migrate up',
  { steps },
];

describe('a failed request', () => {
  test('that is refused is not in the log of failures', async () => {
    const refusal = new OAuthError('invalid_client', 'No.');
    const { failures, lines } = start();
    const reply = await failures.reply(refusal, PAGE);
    expect(reply).toMatchObject({ status: 401, refused: refusal });
    expect([bodyOf(reply), lines]).toEqual([
      { error: 'invalid_client', error_description: 'No.' },
      [],
    ]);
  });

  test.each([
    ['while the store is unavailable', new Error('no connection'), true],
    ['while the keys are lost', new KeysLostError('lost', null), false],
    ['while a key signer fails', new SignerError('kid', 'is out of order'), false],
    ['while the host does not respond', new HostTimeoutError('signedIn', 1), false],
  ])('%s can be repeated', async (_, error, isUnavailable) => {
    const { failures, lines } = start({ isUnavailable, pending: ['one'] });
    expect(await failures.reply(error, ABOUT)).toMatchObject(UNAVAILABLE);
    await settled();
    expect(lines).toEqual([failed(error)]);
    const page = await failures.reply(error, PAGE);
    expect(page).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    expect(shown(page)).toEqual({
      title: WORDS.t('error.unavailable.title'),
      message: WORDS.t('error.unavailable.message'),
      requestId: 'the-request',
      detail: null,
      link: null,
    });
  });

  test('while too many secrets are checked can be repeated, and the log counts them', async () => {
    const { failures, lines } = start();
    for (let count = 0; count < 3; count += 1)
      expect(await failures.reply(new OverloadedError(), ABOUT)).toMatchObject(UNAVAILABLE);
    vi.advanceTimersByTime(1000);
    const text = 'Too many client secret checks at once; requests answered with 503: {times}';
    expect(lines).toEqual([
      ['warning', text, { times: 1 }],
      ['warning', text, { times: 2 }],
    ]);
    const unavailable = start({ isUnavailable: true });
    const error = new OverloadedError();
    await unavailable.failures.reply(error, ABOUT);
    expect(unavailable.lines).toEqual([failed(error)]);
  });

  test('because of a fault says nothing about it, and the log names missing migrations', async () => {
    const { failures, lines } = start({ pending: ['one', 'two'] });
    const fault = new Error('the secret reason');
    const reply = await failures.reply(fault, ABOUT);
    expect([reply.status, bodyOf(reply)]).toEqual([
      500,
      { error: 'server_error', error_description: 'The server failed to answer.' },
    ]);
    await settled();
    const page = await failures.reply('a text', PAGE);
    expect(shown(page)).toEqual({
      title: 'A foreign title',
      message: WORDS.t('error.fault.message'),
      requestId: 'the-request',
      detail: null,
      link: null,
    });
    expect(page.headers).not.toHaveProperty('Retry-After');
    expect(lines).toEqual([failed(fault), missing('one, two'), failed('a text')]);
    for (const pending of [[], new Error('no tables')]) {
      const other = start({ pending });
      await other.failures.reply(fault, ABOUT);
      await settled();
      expect(other.lines).toEqual([failed(fault)]);
    }
  });

  test('because of a fault shows the reason during development', async () => {
    const fault = new Error('the reason');
    const detailOf = async (pending: readonly string[] | Error) =>
      shown(await start({ showsDetails: true, pending }).failures.reply(fault, PAGE)).detail;
    expect(await detailOf(['one'])).toBe(
      'Some database migrations are not applied: one; run npx portico db:migrate up',
    );
    expect(await detailOf([])).toBe('Error: the reason');
    expect(await detailOf(new Error('no tables'))).toBe('Error: the reason');
    const busy = start({ showsDetails: true, isUnavailable: true });
    expect(shown(await busy.failures.reply(fault, PAGE)).detail).toBeNull();
  });

  test('that cannot be redirected is a page with its link, in the language of the request', async () => {
    const text = { title: 'Wrong', message: { key: 'error.fault.title' } } as const;
    const link = { href: '/again', text: { key: 'error.fault.title' } } as const;
    const error = new AuthorizationPageError(text, 'the detail', { link, status: 404 });
    const { failures, lines } = start();
    const reply = await failures.reply(error, { ...PAGE, asPage: false });
    expect(reply).toMatchObject({ status: 404, refused: error });
    expect(shown(reply)).toEqual({
      title: 'Wrong',
      message: 'A foreign title',
      requestId: 'the-request',
      detail: null,
      link: { href: '/again', text: 'A foreign title' },
    });
    expect([lines, reply.headers['Retry-After']]).toEqual([[], undefined]);
    const english = await failures.reply(error, { ...ABOUT, requestId: null });
    expect(shown(english)).toMatchObject({ requestId: null, link: { href: '/again' } });
    expect(shown(english).message).not.toBe('A foreign title');
    const details = start({ showsDetails: true });
    expect(shown(await details.failures.reply(error, PAGE)).detail).toBe('the detail');
  });

  test('that can be repeated later is a page that says when', async () => {
    const text = { title: 'Later', message: 'Wait' };
    const error = new AuthorizationPageError(text, null, { retryAfter: 7, status: 404 });
    expect(await start().failures.reply(error, PAGE)).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '7' },
    });
    const exception = new Error('no view');
    const { failures, lines } = start({ render: () => Promise.reject(exception) });
    const reply = await failures.reply(error, PAGE);
    expect(reply).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '7', 'Content-Type': 'application/json' },
      refused: error,
    });
    expect(lines).toEqual([
      [
        'error',
        'The view oauth/error cannot be rendered: {exception}',
        { requestId: 'the-request', exception },
      ],
    ]);
    const other = await failures.reply(new AuthorizationPageError(text), PAGE);
    expect([other.status, other.headers['Retry-After']]).toEqual([500, undefined]);
    expect((await failures.reply(new Error('a fault'), PAGE)).status).toBe(500);
  });
});

test.each([
  [true, ['one'], 1],
  [false, ['one'], 0],
  [true, [], 0],
  [true, new Error('no tables'), 0],
])('with details: %s, missing migrations (%j) cause %i warnings', async (...given) => {
  const [showsDetails, pending, count] = given;
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    await start({ showsDetails, pending }).failures.warnOfPendingSteps();
    const text = 'Some database migrations are not applied: one; run npx portico db:migrate up';
    expect(warn.mock.calls).toEqual(Array.from({ length: count }, () => [text, 'PorticoWarning']));
  } finally {
    warn.mockRestore();
  }
});

test('a message is a page in the language of the request, with a link', async () => {
  const reply = await messageReply(start().server, REQUEST, {
    text: { title: { key: 'error.fault.title' }, message: 'It is done' },
    status: 200,
    link: { href: '/home', text: { key: 'error.fault.title' } },
    requestId: null,
  });
  expect(shown(reply)).toEqual({
    title: 'A foreign title',
    message: 'It is done',
    requestId: null,
    detail: null,
    link: { href: '/home', text: 'A foreign title' },
  });
  expect(reply.headers['Content-Security-Policy']).toContain("form-action 'none'");
});

test('a response in the query is a redirect, or a question with a link to it', async () => {
  const asked: unknown[] = [];
  const page: Reply = { status: 200, headers: {}, body: 'a question' };
  const mode = new QueryMode(async (...given) => {
    asked.push(given);
    return page;
  });
  const sent = {
    request: REQUEST,
    redirectUri: 'https://client.example/back',
    parameters: { code: 'c', state: 's' },
    status: 303,
    question: null,
  } as const;
  const href = 'https://client.example/back?code=c&state=s';
  expect(mode.name).toBe('query');
  expect(mode.send(sent)).toMatchObject({ status: 303, headers: { Location: href } });
  const question = { text: { title: 't', message: 'm' }, status: 200, action: 'Continue' };
  expect(await mode.send({ ...sent, question })).toBe(page);
  expect(asked).toEqual([[REQUEST, question, href]]);
});
