import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import {
  ADA,
  authorizationUrl,
  obtainTokens,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { png } from './support/png.ts';
import { putUnverified } from './support/unverified.ts';

const ONE = png(48, 48, 200);
const ANOTHER = png(64, 32, 90);
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>1</script></svg>',
);

let host: DocumentHost;
let portal: RunningPortal;
let plain: RunningPortal;

beforeAll(async () => {
  host = await startDocumentHost();
  portal = await startPortal({
    config: { oauth_server: { client_logos: true } },
    outbound: host.outbound,
  });
  plain = await startPortal();
});
afterAll(async () => {
  await portal.close();
  await plain.close();
  await host.close();
});

async function consentOf(client: TestClient, at = portal): Promise<string> {
  const scope = 'openid notes:read';
  const ada = await at.signedIn(ADA);
  return (await ada.get(authorizationUrl(at, client, { scope }))).text();
}

/** The URL of the image on the consent screen, or null. */
async function logoOf(client: TestClient): Promise<string | null> {
  const address = /<img[^>]* src="([^"]*)"/.exec(await consentOf(client))?.[1];
  return address === undefined ? null : `${portal.url}${address.replaceAll('&amp;', '&')}`;
}

describe('the logo of a client', () => {
  // @shows AS-40.6, AS-6.31
  test('is sanitized and served by Portico on the consent page and the page of applications', async () => {
    const client = await registerClient(portal, { logo: ONE });
    const address = (await logoOf(client)) ?? '';
    expect(address).toContain('/oauth/logo?');
    const answer = await fetch(address);
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(ONE)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(answer.headers.get('set-cookie')).toBeNull();
    const shown = await fetch(address, { headers: { Cookie: 'session=1' } });
    expect(shown.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    await obtainTokens(portal, client, ADA, { scope: 'openid notes:read' });
    const applications = await (
      await (await portal.signedIn(ADA)).get('/oauth/applications')
    ).text();
    expect(applications).toContain(
      `src="${new URL(address).pathname}${new URL(address).search.replace('&', '&amp;')}"`,
    );
  });

  // @shows AS-40.6
  test('has a URL below base_path, which the OpenAPI description contains', async () => {
    const below = await startPortal({
      config: { base_path: '/id', oauth_server: { client_logos: true, openapi: true } },
      outbound: host.outbound,
    });
    onTestFinished(() => below.close());
    const logoUri = host.answer('/below.png', (_, response) =>
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(ONE),
    );
    const client = await registerClient(below, { logoUri });
    const ada = below.visitor();
    const url = authorizationUrl(below, client, { scope: 'openid' }).replace('/oauth', '/id/oauth');
    await signIn(ada, await ada.visit(url), ADA);
    const shown = /<img[^>]* src="(\/id\/oauth\/logo\?[^"]*)"/.exec(
      await (await ada.get(url)).text(),
    );
    const answer = await fetch(`${below.url}${shown?.[1]?.replaceAll('&amp;', '&')}`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(ONE)).toBe(true);
    const description = await fetch(`${below.url}/id/oauth/openapi.json`);
    const { paths } = (await description.json()) as { readonly paths: object };
    expect(paths).toMatchObject({ '/id/oauth/logo': { get: { responses: { 200: {}, 404: {} } } } });
  });

  // @shows AS-40.6
  test('has a new URL after it changes, and no URL after it is removed', async () => {
    const client = await registerClient(portal, { logo: ONE });
    const before = (await logoOf(client)) ?? '';
    const { changes } = await portal.server.clients.update(client.id, { logo: ANOTHER });
    expect(Object.keys(changes)).toEqual(['logo_sha256']);
    const after = (await logoOf(client)) ?? '';
    expect(after).not.toBe(before);
    expect((await fetch(before)).status).toBe(404);
    expect(Buffer.from(await (await fetch(after)).arrayBuffer()).equals(ANOTHER)).toBe(true);
    await portal.server.clients.update(client.id, { name: 'Renamed' });
    expect(await logoOf(client)).toBe(after);
    await portal.server.clients.update(client.id, { logo: null });
    expect(await logoOf(client)).toBeNull();
    expect((await fetch(after)).status).toBe(404);
  });

  // @shows AS-40.6
  test('has a URL for its client only, and every other URL is 404', async () => {
    const client = await registerClient(portal, { logo: ONE });
    const other = await registerClient(portal);
    const address = (await logoOf(client)) ?? '';
    for (const odd of [
      address.replace(client.id, other.id),
      `${address}0`,
      `${portal.url}/oauth/logo`,
      `${portal.url}/oauth/logo?client_id=%00&v=%F0%9F%98%80`,
    ]) {
      const answer = await fetch(odd);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: 'invalid_request', error_description: 'There is no such logo.' },
      ]);
    }
  });

  // @shows AS-40.6
  test('is stored in one transaction with its client: a crash leaves neither', async () => {
    const { database } = portal.application;
    const ids = async () => (await portal.server.clients.list()).map(({ id }) => id);
    const rows = async () =>
      (await database.execute<{ client_id: string }>('SELECT client_id FROM oauth_client_logos'))
        .rows;
    const [before, kept] = [await ids(), await rows()];
    await database.execute('ALTER TABLE oauth_client_logos RENAME TO oauth_client_logos_away');
    try {
      await expect(registerClient(portal, { logo: ONE })).rejects.toThrow('oauth_client_logos');
    } finally {
      await database.execute('ALTER TABLE oauth_client_logos_away RENAME TO oauth_client_logos');
    }
    expect(await ids()).toEqual(before);
    await database.execute('ALTER TABLE oauth_clients RENAME TO oauth_clients_away');
    try {
      await expect(registerClient(portal, { logo: ONE })).rejects.toThrow('oauth_clients');
    } finally {
      await database.execute('ALTER TABLE oauth_clients_away RENAME TO oauth_clients');
    }
    expect(await rows()).toEqual(kept);
  });

  // @shows AS-40.6
  test.each([
    ['SVG', SVG, 'not a PNG, JPEG, GIF or WebP'],
    ['text', Buffer.from('a logo, they said; what a logo it was'), 'not a PNG, JPEG, GIF or WebP'],
    ['too many pixels', png(513, 1, 0), '513 × 1 pixels; the maximum is 512 × 512'],
    ['too many bytes', Buffer.concat([ONE, Buffer.alloc(65_536)]), 'larger than 64 KB'],
  ])('is refused if it is %s, and nothing is registered or changed', async (_, logo, problem) => {
    const count = (await portal.server.clients.list()).length;
    await expect(registerClient(portal, { logo })).rejects.toThrow(problem);
    const client = await registerClient(portal, { name: 'Before', logo: ONE });
    const address = await logoOf(client);
    await expect(portal.server.clients.update(client.id, { name: 'After', logo })).rejects.toThrow(
      problem,
    );
    expect((await portal.server.clients.find(client.id))?.name).toBe('Before');
    expect(await logoOf(client)).toBe(address);
    expect((await portal.server.clients.list()).length).toBe(count + 1);
  });

  // @shows AS-40.6
  test('is fetched once when its URL is set, and never while pages are shown', async () => {
    const logoUri = host.answer('/logo.png', (_, response) =>
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(ONE),
    );
    const client = await registerClient(portal, { logoUri });
    const asked = host.connections();
    const address = (await logoOf(client)) ?? '';
    await fetch(address);
    await fetch(address);
    expect(host.connections()).toBe(asked);
    expect(await consentOf(client)).not.toContain('logo.png');
  });

  // @shows AS-40.6
  test('is refused if its URL redirects, is not an image, is too large or is not public', async () => {
    const answers = {
      '/moved': (response: ServerResponse) =>
        response.writeHead(302, { Location: '/logo.png' }).end(),
      '/page': (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(ONE),
      '/long': (response: ServerResponse) =>
        response
          .writeHead(200, { 'Content-Type': 'image/png' })
          .end(Buffer.concat([ONE, Buffer.alloc(65_536)])),
    };
    for (const [at, by] of Object.entries(answers)) {
      const logoUri = host.answer(at, (_, response) => void by(response));
      await expect(registerClient(portal, { logoUri })).rejects.toThrow(
        'The logo cannot be fetched',
      );
    }
    for (const logoUri of [
      'http://client.example/logo.png',
      'https://127.0.0.1/logo.png',
      'no address',
    ]) {
      await expect(registerClient(portal, { logoUri })).rejects.toThrow('The');
    }
  });

  // @shows AS-40.6
  test('is not shown for a client that no operator registered, even if its row contains one', async () => {
    const client = await putUnverified(portal, {
      document: null,
      name: 'X',
      redirectUris: ['https://client.example/callback'],
    });
    await portal.application.database.execute(
      'UPDATE oauth_clients SET client_uri = ?, logo_hash = ? WHERE client_id = ?',
      ['https://bank.example/', 'hash', client.id],
    );
    const html = await consentOf(client);
    expect(html).not.toContain('<img');
    expect(html).not.toContain('bank.example');
  });

  // @shows AS-40.6
  test('is refused while the setting is off: no fetch, no endpoint, no logo on a page', async () => {
    const off = await startPortal();
    onTestFinished(() => off.close());
    const asked = host.connections();
    for (const named of [{ logo: ONE }, { logoUri: host.url('/logo.png') }]) {
      await expect(registerClient(off, named)).rejects.toThrow('oauth_server:client_logos is off');
    }
    expect(host.connections()).toBe(asked);
    const client = await registerClient(off);
    expect(await consentOf(client, off)).not.toContain('<img');
    expect((await fetch(`${off.url}/oauth/logo?client_id=${client.id}&v=x`)).status).toBe(404);
    expect(off.server.endpoints.map(({ name }) => name)).not.toContain('oauth_server_logo');
  });
});

describe('the website of a client', () => {
  // @shows AS-40.7
  test('is shown on the consent page by its ASCII host, with a link that sends no referrer', async () => {
    const client = await registerClient(plain, { siteUri: 'https://bücher.example/about?a="b"' });
    expect(await consentOf(client, plain)).toMatch(
      /<a href="https:\/\/xn--bcher-kva\.example\/about\?a=%22b%22" target="_blank" rel="noopener noreferrer"><bdi dir="ltr">xn--bcher-kva\.example<\/bdi>/,
    );
    const { changes } = await plain.server.clients.update(client.id, { siteUri: null });
    expect(changes).toEqual({
      client_uri: { before: 'https://xn--bcher-kva.example/about?a=%22b%22', after: null },
    });
    expect(await consentOf(client, plain)).not.toContain('xn--bcher');
  });

  // @shows AS-40.7
  test.each([
    'http://client.example/',
    'javascript:alert(1)',
    'https://ada:secret@client.example/',
    'client.example',
  ])('is refused if it is %s', async (siteUri) => {
    await expect(registerClient(plain, { siteUri })).rejects.toThrow('must be an https URL');
  });
});
