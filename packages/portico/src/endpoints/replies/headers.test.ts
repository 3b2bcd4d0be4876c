import { describe, expect, test } from 'vitest';
import { dpopOffer } from '../../http/dpop.ts';
import { preflight, readableHeaders } from './cross-origin.ts';
import { documentReply, publicDocument } from './documents.ts';
import type { Words } from '../../pages/words.ts';
import type { Server } from '../../server.ts';
import { ANYWHERE, ownPageReply, pageReply, redirectReply } from './pages.ts';

const WORDS = { lang: 'en', title: 'replaced' } as unknown as Words;
const DPOP = dpopOffer({ required: false, algorithms: ['ES256', 'RS256'] });

describe('a page of another origin', () => {
  const request = (fields?: string) =>
    new Request('https://app.example/', {
      headers: fields === undefined ? {} : { 'Access-Control-Request-Headers': fields },
    });

  test('may send the headers that clients need', () => {
    expect(preflight(request(), ['GET', 'POST'], null)).toEqual({
      status: 204,
      headers: {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, POST',
        'Access-Control-Max-Age': '7200',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
        Vary: 'Access-Control-Request-Headers',
      },
      body: null,
    });
    for (const methods of [['GET'], ['POST']])
      expect(preflight(request(), methods, null).headers).toMatchObject({
        'Access-Control-Allow-Methods': 'GET, POST',
      });
    const { headers } = preflight(request('dpop, X-More'), ['GET', 'DELETE'], DPOP);
    expect(headers).toMatchObject({
      'Access-Control-Allow-Methods': 'GET, DELETE',
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, MCP-Protocol-Version, DPoP, X-More',
    });
  });

  test('may read the headers that clients need', () => {
    const EXPOSED = 'WWW-Authenticate, Retry-After, X-Request-Id';
    expect([readableHeaders(null), readableHeaders(DPOP)]).toEqual([
      { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED },
      {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': `${EXPOSED}, DPoP-Nonce`,
      },
    ]);
  });
});

test('a public document is sent again only if it has changed', () => {
  const document = publicDocument({ a: 1 }, 60);
  expect(publicDocument({ a: 2 }, 60).etag).not.toBe(document.etag);
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=60',
    ETag: document.etag,
  };
  const reply = (known?: string) =>
    documentReply(
      new Request('https://app.example/', {
        headers: known === undefined ? {} : { 'If-None-Match': known },
      }),
      document,
    );
  const whole = { status: 200, headers, body: '{"a":1}' };
  const same = { status: 304, headers, body: null };
  for (const known of [
    undefined,
    '',
    '"x"',
    `x${document.etag}`,
    `${document.etag}x`,
    `xW/${document.etag}`,
    `"W/${document.etag.slice(1)}`,
  ])
    expect(reply(known)).toEqual(whole);
  for (const known of [document.etag, `W/${document.etag}`, `"x" , ${document.etag}`, '*', '"x",*'])
    expect(reply(known)).toEqual(same);
});

describe('a page', () => {
  const policy = (formLeadsTo: Parameters<typeof ownPageReply>[0]['formLeadsTo']) =>
    ownPageReply({ status: 200, formLeadsTo }, () => '').headers['Content-Security-Policy'] ?? '';

  test('of this server sends its form only where it leads to', () => {
    const action = (formLeadsTo: Parameters<typeof policy>[0]) =>
      /form-action ([^;]*)/.exec(policy(formLeadsTo))?.[1];
    expect([
      action(null),
      action(ANYWHERE),
      action('https://client.example/cb'),
      action('http://127.0.0.1/cb'),
      action('com.example:/cb'),
    ]).toEqual([
      "'none'",
      undefined,
      "'self' https:",
      "'self' https: http:",
      "'self' https: com.example:",
    ]);
  });

  test('has a new nonce, and is not for search engines', () => {
    const made = () => ownPageReply({ status: 418, formLeadsTo: null }, (nonce) => `<${nonce}>`);
    const [one, other] = [made(), made()];
    expect(one.status).toBe(418);
    expect(one.headers['X-Robots-Tag']).toBe('noindex');
    const nonce = String(one.body).slice(1, -1);
    expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
    expect(one.headers['Content-Security-Policy']).toContain(`'nonce-${nonce}'`);
    expect(other.body).not.toBe(one.body);
  });

  test('of a view gets the words and the data, which come last, and the same nonce', async () => {
    const rendered: unknown[] = [];
    const server = {
      host: {
        render: async (...given: unknown[]) => {
          rendered.push(given);
          return 'the page';
        },
      },
      speaking: {
        headers: (words: unknown) => ({ 'Content-Language': words === WORDS ? 'en' : '' }),
      },
    } as unknown as Server;
    const shown = { view: 'oauth/error', status: 418, formLeadsTo: null } as const;
    const data = { title: 'own', message: 'told' };
    const reply = await pageReply(server, { ...shown, words: WORDS, data: data as never });
    const [[view, given]] = rendered as [[string, Readonly<Record<string, string>>]];
    const { nonce = '' } = given;
    expect([view, given]).toEqual(['oauth/error', { lang: 'en', ...data, nonce }]);
    expect(Buffer.from(nonce, 'base64').toString('base64')).toBe(nonce);
    expect(nonce).toHaveLength(24);
    expect(reply).toMatchObject({
      status: 418,
      body: 'the page',
      headers: {
        'Content-Language': 'en',
        'Content-Security-Policy': expect.stringContaining(`'nonce-${nonce}'`) as string,
      },
    });
  });

  test('can be replaced by a redirect without a referrer', () => {
    expect(redirectReply('https://client.example/cb', 303)).toEqual({
      status: 303,
      body: null,
      headers: {
        Location: 'https://client.example/cb',
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
      },
    });
  });
});
