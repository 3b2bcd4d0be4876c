import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { page } from '../../pages/words.ts';
import { Speaking } from '../../pages/speaking.ts';
import type { OAuthServerConfig } from '../../config.ts';
import type { Server } from '../../server.ts';
import { formPost } from './index.ts';
import { FormPostMode } from './mode.ts';

const speaking = new Speaking({ languages: false, own: {}, folder: null, catalogs: {} });
const words = await speaking.of(new Request('https://portal.example/'));
const mode = new FormPostMode(speaking);
const problemOf = (redirectUri: string, state: string | null = null) =>
  mode.problem({ redirectUri, state });

describe('a redirect URI with response_mode=form_post', () => {
  // @shows AS-7.22
  test.each([
    'https://client.example/callback',
    'https://client.example:8443/',
    'https://xn--bcher-kva.example/c',
    'https://bücher.example/c',
    'http://127.0.0.1:3118/callback',
    'http://localhost/callback?a=b;c,d',
    'https://192.0.2.1/callback',
  ])('is accepted: %s', (uri) => expect(problemOf(uri)).toBeNull());

  // @shows AS-7.22
  test.each([
    ['com.example.app:/callback', 'private-use scheme'],
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'private-use scheme'],
    ['javascript:alert(1)', 'private-use scheme'],
    ['data:text/html,x', 'private-use scheme'],
    ['mailto:ada@example.com', 'private-use scheme'],
    ['blob:https://client.example/1', 'private-use scheme'],
    ['http://[::1]/callback', 'a content security policy cannot'],
    ['https://[2001:db8::1]:8443/callback', 'a content security policy cannot'],
    ['https://a;sandbox.example/callback', 'a content security policy cannot'],
    ['https://a,b.example/callback', 'a content security policy cannot'],
    ["https://a'b.example/callback", 'a content security policy cannot'],
    ['https://a*b.example/callback', 'a content security policy cannot'],
    ['https://*.example/callback', 'a content security policy cannot'],
    ['https://a_b.example/callback', 'a content security policy cannot'],
  ])('is refused: %s', (uri, says) => expect(problemOf(uri)).toContain(says));

  test('never ends a directive of the content security policy', async () => {
    const hosts = fc
      .array(
        fc.constantFrom(
          'a',
          '-',
          '.',
          ';',
          ',',
          "'",
          '"',
          '*',
          '_',
          '!',
          '$',
          '(',
          '~',
          'é',
          '{',
          '`',
        ),
      )
      .map((parts) => `https://${parts.join('')}x/`)
      .filter((uri) => URL.canParse(uri) && problemOf(uri) === null);
    await fc.assert(
      fc.asyncProperty(hosts, async (redirectUri) => {
        const policy = (await sent({ redirectUri })).headers['Content-Security-Policy'] ?? '';
        expect(policy.split('; ').at(-1)).toMatch(/^form-action https:\/\/[a-z0-9.-]+$/);
      }),
    );
  });
});

function sent({
  redirectUri = 'https://client.example/callback',
  parameters = {},
  question = null,
}: Partial<Parameters<FormPostMode['send']>[0]>) {
  const request = new Request('https://portal.example/oauth/authorize');
  return mode.send({ request, redirectUri, parameters, status: 302, question });
}

// @shows AS-7.22
test.each([
  ['a\nb', false],
  ['a\rb', false],
  ['\0', false],
  ['\t\v\f\u0001 é\u{1F600}\u2028', true],
  ['', true],
  [null, true],
])('form_post accepts a state only if a form transmits it unchanged: %j', (state, isFine) => {
  expect(problemOf('https://client.example/callback', state) === null).toBe(isFine);
});

// @shows AS-7.21
test('form_post escapes every value in its page', async () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom('<', '>', '"', "'", '&', '</form>', '<script>', '-->', '`', '$&', '{host}'),
        fc.string(),
      ),
    )
    .map((parts) => parts.join(''));
  const plain = String((await sent({ parameters: { code: '', state: '' } })).body);
  const count = (html: string, text: string) => html.split(text).length;
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (code, state) => {
      const html = String((await sent({ parameters: { code, state } })).body);
      for (const mark of ['<', '>', '"', "'"]) expect(count(html, mark)).toBe(count(plain, mark));
    }),
  );
});

test('a form_post page that asks for confirmation has no script, and its policy allows none', async () => {
  const question = { text: page('error.not_clear'), status: 400, action: '<i>Go</i>' };
  const reply = await sent({ parameters: { error: 'access_denied' }, question });
  expect(reply.status).toBe(400);
  expect(reply.body).toContain(`<h1>${words.t('error.not_clear.title')}</h1>`);
  expect(reply.body).toContain(`<p>${words.t('error.not_clear.message')}</p>`);
  expect(reply.body).not.toContain('<script');
  expect(reply.body).toContain('&lt;i&gt;Go&lt;/i&gt;</button>');
  expect(reply.headers['Content-Security-Policy']).not.toContain('script');
});

// @shows AS-2.30
test.each([
  [undefined, []],
  [false, []],
  [true, ['form_post']],
])('with form_post: %s the server has these further response modes: %j', (isOn, names) => {
  const started = formPost.start?.(
    { speaking } as Server,
    { form_post: isOn } as OAuthServerConfig,
  );
  expect((started?.responseModes ?? []).map(({ name }) => name)).toEqual(names);
});
