import type { Speaking, Views } from 'portico';
import { expect, test } from 'vitest';
import { errorAnswer, type ErrorView } from './error-answers.ts';

/** Answers with this status, and returns what the view and the log received. */
async function answered(status: number, accept: string, spoken = {}, isBroken = false) {
  const rendered: [string, ErrorView][] = [];
  const lines: unknown[] = [];
  const views = {
    async render(name: string, view: ErrorView) {
      if (isBroken) throw BROKEN;
      rendered.push([name, view]);
      return '<html>';
    },
  } as unknown as Views;
  const words = { locale: 'de', direction: 'ltr', t: (key: string) => `the ${key}` };
  const speaking = { of: async () => words, headers: () => spoken } as unknown as Speaking;
  const log = { error: (...line: unknown[]) => lines.push(line) } as never;
  const request = new Request('https://app.example/a?b', { method: 'PUT', headers: { accept } });
  const headers = { 'X-Own': '1' };
  const response = await errorAnswer(
    { views, speaking, log, name: 'Shop' },
    { request, requestId: 'r1', status, headers },
  );
  const body = await response.text();
  return { status: response.status, headers: response.headers, body, rendered, lines };
}
const BROKEN = new Error('The view is broken');

test.each([
  [404, 'not_found'],
  [413, 'too_large'],
  [503, 'unavailable'],
  [400, 'refused'],
  [499, 'refused'],
  [500, 'failed'],
  [599, 'failed'],
])('the page of the status %i says %s', async (status, says) => {
  const spoken = { 'Content-Language': 'de', Vary: 'Accept-Language' };
  const { headers, body, rendered, ...answer } = await answered(status, 'text/html', spoken);
  expect([answer.status, body]).toEqual([status, '<html>']);
  const [name, view] = rendered[0] ?? [];
  expect([name, view]).toEqual([
    'error',
    {
      locale: 'de',
      direction: 'ltr',
      t: expect.any(Function) as unknown,
      title: `the error.${says}.title`,
      message: `the error.${says}.message`,
      name: 'Shop',
      status,
      requestId: 'r1',
      nonce: expect.stringMatching(/^[\w+/]{22}==$/) as string,
    },
  ]);
  expect(headers.get('content-security-policy')).toContain(`'nonce-${view?.nonce}'`);
  expect(['content-language', 'vary', 'x-own'].map((each) => headers.get(each))).toEqual([
    'de',
    'Accept, Accept-Language',
    '1',
  ]);
});

test('the page in the only language varies only by Accept', async () => {
  expect((await answered(404, 'text/html')).headers.get('vary')).toBe('Accept');
});

test.each([
  [404, 'Not found'],
  [499, 'Bad request'],
  [500, 'Internal server error'],
  [599, 'Internal server error'],
])('the JSON of the status %i names the error %s', async (status, error) => {
  const { headers, body, rendered, ...answer } = await answered(status, 'application/json');
  expect([answer.status, rendered]).toEqual([status, []]);
  expect(JSON.parse(body)).toEqual({ error, method: 'PUT', path: '/a' });
  expect(Object.fromEntries(headers)).toEqual({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'Accept',
    'x-own': '1',
  });
});

test('a page that cannot be rendered is replaced by JSON, and logged', async () => {
  const { status, body, lines } = await answered(404, 'text/html', {}, true);
  expect([status, JSON.parse(body)]).toEqual([
    404,
    { error: 'Not found', method: 'PUT', path: '/a' },
  ]);
  const values = { requestId: 'r1', exception: BROKEN };
  expect(lines).toEqual([['The error view cannot be rendered: {exception}', values]]);
});
