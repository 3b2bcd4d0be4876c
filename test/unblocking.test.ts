import path from 'node:path';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import {
  ADA,
  authorizationUrl,
  registerClient,
  REDIRECT_URI,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { pushedNow } from './support/pushing.ts';
import { putUnverified } from './support/unverified.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

const DOCUMENT = {
  client_name: 'Assistant',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};
const MOVED = 'https://moved.example/callback';

let host: DocumentHost;
let portal: RunningPortal;
let ada: Visitor;

beforeAll(async () => {
  host = await startDocumentHost();
  portal = await startPortal({
    outbound: host.outbound,
    config: {
      oauth_server: { client_id_metadata_documents: true, pushed_authorization_requests: 'accept' },
    },
  });
  ada = await portal.signedIn(ADA);
});
afterAll(async () => {
  await portal.close();
  await host.close();
});

const run = (...args: string[]) =>
  porticoHere(args, { cwd: path.join(ROOT, 'examples', 'portal'), env: portal.env });

const asking = (id: string, redirectUri = REDIRECT_URI) =>
  authorizationUrl(
    portal,
    { id, secret: '' },
    { scope: 'openid notes:read', redirect_uri: redirectUri },
  );

async function allow(id: string, redirectUri = REDIRECT_URI): Promise<string> {
  const allowed = await ada.submit(await ada.get(asking(id, redirectUri)), { decision: 'allow' });
  return locationOf(allowed).searchParams.get('code') ?? '';
}

const exchange = (id: string, code: string, redirectUri = REDIRECT_URI) =>
  requestToken(portal, null, {
    grant_type: 'authorization_code',
    client_id: id,
    redirect_uri: redirectUri,
    code,
    code_verifier: VERIFIER,
  });

const tokensOf = async (response: Response) => (await response.json()) as Tokens;

const refresh = (id: string, { refresh_token: token }: Tokens) =>
  requestToken(portal, null, { grant_type: 'refresh_token', client_id: id, refresh_token: token });

async function statusOf({ access_token: token }: Tokens): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${portal.url}/oauth/userinfo`, { headers })).status;
}

async function errorOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { readonly error?: unknown }).error;
}

describe('oauth:client:unblock', () => {
  // @shows AS-13.26
  test('makes the URL a valid client again, and none of its old tokens works again', async () => {
    const id = host.publish('/again.json', DOCUMENT);
    const had = await tokensOf(await exchange(id, await allow(id)));
    const unspent = await allow(id);
    const open = await ada.get(asking(id));
    const pushed = await pushedNow(portal, { id, secret: '' }, { scope: 'openid notes:read' });
    expect(await statusOf(had)).toBe(200);

    expect((await run('oauth:client:revoke', id)).code).toBe(0);
    const { code, stdout } = await run('oauth:client:unblock', id);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        `The URL ${id} is no longer blocked. People must allow the application again. ` +
        'Earlier access stays revoked.\n',
    });
    // Its document has not been read since: it may do nothing.
    expect(await errorOf(await exchange(id, unspent))).toBe('unauthorized_client');
    const asked = host.asked.length;

    const has = await tokensOf(await exchange(id, await allow(id)));
    expect(host.asked.slice(asked)).toEqual(['/again.json']);
    expect(await statusOf(has)).toBe(200);
    expect(await statusOf(had)).toBe(401);
    expect(await errorOf(await refresh(id, had))).toBe('invalid_grant');
    expect(await errorOf(await exchange(id, unspent))).toBe('invalid_grant');
    expect((await ada.submit(open, { decision: 'allow' })).status).toBe(400);
    expect((await ada.get(pushed)).status).toBe(400);
    const renewed = await refresh(id, has);
    expect(renewed.status).toBe(200);
    expect(await statusOf(await tokensOf(renewed))).toBe(200);
    expect((await run('oauth:client:list')).stdout).toContain(
      `${id}  "Assistant"  (public, a document)`,
    );
  });

  // @shows AS-13.26
  test('ignores a document that was fetched before, even a fresh one', async () => {
    const headers = { 'Cache-Control': 'max-age=86400' };
    const id = host.publish('/moved.json', DOCUMENT, headers);
    await allow(id);
    await run('oauth:client:revoke', id);
    host.publish('/moved.json', { ...DOCUMENT, redirect_uris: [MOVED] }, headers);
    await run('oauth:client:unblock', id);
    // The console's clock may be ahead.
    await portal.application.database.execute(
      'UPDATE oauth_clients SET document_fresh_until = document_fresh_until + 60000 WHERE client_id = ?',
      [id],
    );
    expect((await ada.get(asking(id))).status).toBe(400);
    expect((await exchange(id, await allow(id, MOVED), MOVED)).status).toBe(200);
  });

  // @shows AS-13.26
  test('also unblocks a URL that was blocked before its first use', async () => {
    const id = host.publish('/unseen.json', DOCUMENT);
    await run('oauth:client:revoke', id);
    expect((await ada.get(asking(id))).status).toBe(400);
    await run('oauth:client:unblock', id);
    expect((await exchange(id, await allow(id))).status).toBe(200);
  });

  // @shows AS-13.26
  test('invalidates earlier consent requests, even if their answer arrives afterwards', async () => {
    const id = host.publish('/late.json', DOCUMENT);
    const late = await ada.get(asking(id));
    await portal.server.clients.revoke(id);
    await portal.server.clients.unblock(id);
    await portal.application.database.execute(
      'UPDATE oauth_consent_requests SET outcome = NULL WHERE client_id = ?',
      [id],
    );
    expect((await ada.submit(late, { decision: 'allow' })).status).toBe(400);
  });

  // @shows AS-13.26
  test('refuses every other client, and a URL that is not blocked', async () => {
    const byOperator = await registerClient(portal, { name: 'Ours', scopes: ['openid'] });
    const itself = await putUnverified(portal, {
      document: null,
      name: 'X',
      redirectUris: [REDIRECT_URI],
    });
    const id = host.publish('/living.json', DOCUMENT);
    await allow(id);
    for (const each of [byOperator.id, itself.id]) await portal.server.clients.revoke(each);
    const refusals = [
      [byOperator.id, 'other clients stay revoked'],
      [itself.id, 'other clients stay revoked'],
      [id, 'is not blocked'],
      ['https://nobody.example/client.json', 'No client has this id'],
    ] as const;
    for (const [each, reason] of refusals) {
      const { code, stderr } = await run('oauth:client:unblock', each);
      expect(code).toBe(1);
      expect(stderr).toContain(reason);
    }
    expect((await portal.server.clients.find(byOperator.id))?.revokedAt).not.toBeNull();
    expect((await portal.server.clients.find(itself.id))?.revokedAt).not.toBeNull();
  });

  // @shows AS-13.26, AS-19.1
  test('is one audit event', async () => {
    const clientId = 'https://events.example/client.json';
    await portal.server.clients.revoke(clientId);
    const events: AuditEvent[] = [];
    portal.application.events.on(AUDIT, (event: AuditEvent) => {
      events.push(event);
    });
    await portal.server.clients.unblock(clientId);
    await expect(portal.server.clients.unblock(clientId)).rejects.toThrow('not blocked');
    expect(events).toEqual([{ type: 'client_unblocked', clientId, registeredBy: 'document' }]);
  });
});
