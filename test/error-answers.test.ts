import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineApplication, HttpError } from '@portico/kit';
import { OverloadedError } from 'portico';
import { startExample, type RunningApplication } from './support/application.ts';
import {
  ADA,
  authorizationUrl,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

/** As browsers send it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

const teller = defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({ public_url: `http://localhost:${env['PORT'] ?? ''}`, body_limit: 1024 }),
  register(application) {
    const answers: Readonly<Record<string, () => Response>> = {
      '/fault': () => {
        throw new Error('the secret of the fault');
      },
      '/busy': () => {
        throw new OverloadedError();
      },
      '/refused': () => {
        throw new HttpError(409, 'the secret of the refusal');
      },
      '/form': () => new Response('taken'),
      // As a JavaScript application may do.
      '/forgotten': (() => undefined) as unknown as () => Response,
    };
    for (const [path, handler] of Object.entries(answers)) {
      application.route({ name: path.slice(1), methods: ['GET', 'POST'], path, handler });
    }
  },
});

let running: RunningApplication;
beforeAll(async () => {
  running = await startExample(teller);
});
afterAll(() => running.close());

describe('the error response of an application without its own hooks', () => {
  // @shows HOST-3.1
  test.each([
    ['GET', '/nowhere', 404, 'Not found'],
    ['DELETE', '/form', 405, 'Method not allowed'],
    ['GET', '/refused', 409, 'Conflict'],
    ['GET', '/fault', 500, 'Internal server error'],
    ['GET', '/forgotten', 500, 'Internal server error'],
    ['GET', '/busy', 503, 'Service unavailable'],
  ])(
    'is JSON with method and path for a program: %s %s, %i',
    async (method, path, status, error) => {
      for (const accept of [
        '*/*',
        'application/json',
        'application/json, text/html;q=0.5',
        'text/html;q=0',
      ]) {
        const response = await fetch(`${running.url}${path}?secret=1`, {
          method,
          headers: { Accept: accept },
        });
        expect(response.status).toBe(status);
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        expect(await response.json()).toEqual({ error, method, path });
      }
    },
  );

  // @shows HOST-3.1
  test.each([
    ['GET', '/nowhere', 404, 'Page not found'],
    ['DELETE', '/form', 405, 'Request refused'],
    ['GET', '/refused', 409, 'Request refused'],
    ['GET', '/fault', 500, 'Something went wrong'],
    ['GET', '/busy', 503, 'Please try again in a moment'],
  ])('is a page for a browser: %s %s, %i', async (method, path, status, title) => {
    const response = await fetch(`${running.url}${path}`, { method, headers: { Accept: BROWSER } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain(`<h1>${title}</h1>`);
    expect(page).toContain(
      `Request id: <code>${response.headers.get('x-request-id') ?? ''}</code>`,
    );
    expect(page).not.toContain('the secret of');
  });

  // @shows HOST-1.6, HOST-3.1
  test('is a 413 page for a large body, and has no body for HEAD', async () => {
    const init = { method: 'POST', body: 'x'.repeat(2000), headers: { Accept: BROWSER } };
    const response = await fetch(`${running.url}/form`, init);
    expect(response.status).toBe(413);
    expect(await response.text()).toContain('<h1>The request is too large</h1>');
    const head = await fetch(`${running.url}/nowhere`, {
      method: 'HEAD',
      headers: { Accept: BROWSER },
    });
    expect([head.status, await head.text()]).toEqual([404, '']);
  });

  test('is a page for a handler that forgets to return, and the log names its route', async () => {
    const headers = { Accept: BROWSER };
    const response = await fetch(`${running.url}/forgotten`, { headers });
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const lines = (
      await readFile(join(running.application.storageDirectory, 'app.log'), 'utf8')
    ).split('\n');
    const line = lines.find((each) =>
      each.includes(response.headers.get('x-request-id') ?? 'none'),
    );
    expect(line).toContain('The handler of the route forgotten');
    expect(line).not.toContain('host hook');
  });

  test('has a Retry-After header if it is 503', async () => {
    for (const accept of ['*/*', BROWSER]) {
      const response = await fetch(`${running.url}/busy`, { headers: { Accept: accept } });
      expect(response.headers.get('retry-after')).toBe('2');
    }
  });

  test('escapes markup in a path on the page, and JSON is not served as a page', async () => {
    const at = `${running.url}/${encodeURIComponent('<b>')}<i>`;
    const response = await fetch(at);
    expect(await response.json()).toMatchObject({ path: '/%3Cb%3E%3Ci%3E' });
  });

  test.each(['two words', '.1', '1.2.3.4.5'])(
    'is 400 for a malformed request, also with an id: the host %j',
    async (host) => {
      const response = await raw(running.url, 'GET', '/', { host });
      expect(response.status).toBe(400);
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

/** Sends a target unchanged. */
function raw(url: string, method: string, target: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(url);
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      const sent = httpRequest({ hostname, port, method, path: target, headers }, (response) => {
        text(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        );
      });
      sent.on('error', reject);
      sent.end();
    },
  );
}

describe('the portal', () => {
  let portal: RunningPortal;
  beforeAll(async () => {
    portal = await startPortal();
  });
  afterAll(() => portal.close());

  // @shows AS-6.18
  test.each([
    '/x/../oauth/introspect',
    '/x/%2e%2e/oauth/introspect',
    '/x/.%2E/oauth/introspect',
    '/x/%2e./oauth/introspect',
    '/./oauth/introspect',
    '/oauth/%2e/introspect',
    '/oauth/x/..%2f../introspect',
    '/oauth/introspect/x/..',
    '/oauth/introspect/x/%2E%2e',
    '/oauth/introspect/.',
    '/oauth/introspect#here',
    '/oauth\\introspect',
    '/x\\..\\oauth/introspect',
    '//oauth/introspect',
    '/oauth//introspect',
    '/oauth/introspect/',
    '/x/..;/oauth/introspect',
    '/oauth/introspect;x',
    '/%6fauth/introspect',
    'http://elsewhere.example/x/%2e%2e/oauth/introspect',
    'http://elsewhere.example\\oauth/introspect',
    'http://elsewhere.example/oauth/introspect#here',
    'http:///x/oauth/introspect',
    'http://user:password@elsewhere.example/oauth/introspect',
    'http:/oauth/introspect',
  ])('does not treat %s as an endpoint', async (target) => {
    const response = await raw(portal.url, 'POST', target);
    expect([400, 404]).toContain(response.status);
    expect(response.body).not.toContain('invalid_');
  });

  test.each([
    '/oauth/introspect',
    '/oauth/introspect?at=/../x',
    'http://elsewhere.example/oauth/introspect',
  ])('treats %s as an endpoint', async (target) => {
    const response = await raw(portal.url, 'POST', target);
    expect([response.status, response.body]).toEqual([
      400,
      expect.stringContaining('invalid_request'),
    ]);
  });

  // @shows AS-6.18
  test('does not match a dot segment in any spelling with a placeholder', async () => {
    for (const target of ['/api/notes/..', '/api/notes/%2e%2e', '/api/notes/x/../y']) {
      expect((await raw(portal.url, 'DELETE', target)).status).toBe(404);
    }
  });

  // @shows AS-6.17
  test('responds to an error with a page for browsers, and JSON for programs', async () => {
    const client = await registerClient(portal);
    const visitor = await portal.signedIn(ADA);
    const url = authorizationUrl(portal, client);
    await portal.application.database.execute('ALTER TABLE oauth_clients RENAME TO gone');
    try {
      const page = await visitor.get(url, { Accept: BROWSER });
      expect(page.status).toBe(500);
      const shown = await page.text();
      expect(shown).toContain('<h1>Something went wrong</h1>');
      expect(shown).toContain(page.headers.get('x-request-id'));
      const json = await visitor.get(url, { Accept: '*/*' });
      expect([json.status, await json.json()]).toEqual([
        500,
        { error: 'server_error', error_description: 'The server failed to answer.' },
      ]);
      const token = await fetch(`${portal.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: client.id, grant_type: 'x' }),
        headers: { Accept: BROWSER },
      });
      expect(token.headers.get('content-type')).toBe('application/json');
    } finally {
      await portal.application.database.execute('ALTER TABLE gone RENAME TO oauth_clients');
    }
  });

  // @shows AS-6.17, AS-19.4
  test.each(['dev', 'prod'] as const)(
    'shows the exception in the log, and on the error page only with APP_ENV=dev: %s',
    async (mode) => {
      const other = await startPortal({
        mode,
        ...(mode === 'prod' ? { config: { public_url: 'https://portal.example' } } : {}),
      });
      try {
        const client = await registerClient(other);
        const { database } = other.application;
        await database.execute('ALTER TABLE oauth_clients RENAME TO gone');
        const url = authorizationUrl(other, client);
        const headers = { Accept: BROWSER };
        const page = await other.application.fetch(new Request(url, { headers }));
        const text = await page.text();
        expect(page.status).toBe(500);
        expect(text.includes('oauth_clients')).toBe(mode === 'dev');
        expect(text.includes('Under APP_ENV=dev: ')).toBe(mode === 'dev');
        const log = await readFile(join(other.application.storageDirectory, 'app.log'), 'utf8');
        expect(log).toMatch(/oauth_server_authorize failed: .*oauth_clients/);
      } finally {
        await other.close();
      }
    },
  );
});
