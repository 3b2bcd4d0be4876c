// @engines sqlite: what it asks of the database, the other files ask of every engine
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examine, type Check } from 'portico/oauth-server';
import { describe, expect, test } from 'vitest';
import { registerClient, startPortal, type PortalOptions, type RunningPortal } from './support/portal.ts';

/** What the doctor finds of one part, in a portal that something was done to. */
async function finding(
  part: string,
  options: PortalOptions,
  harm: (portal: RunningPortal) => Promise<unknown> = async () => {},
): Promise<Check | undefined> {
  const portal = await startPortal(options);
  try {
    await harm(portal);
    const { checks } = await examine(portal.application, portal.server);
    return checks.find((check) => check.part === part);
  } finally {
    await portal.close();
  }
}

async function withView(content: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-views-'));
  try {
    await mkdir(path.join(folder, 'oauth'));
    await writeFile(path.join(folder, 'oauth', 'consent.eta'), content);
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the doctor', () => {
  test('finds nothing wrong with a portal that works', async () => {
    const portal = await startPortal();
    try {
      await registerClient(portal);
      const { checks, healthy } = await examine(portal.application, portal.server);
      expect(healthy).toBe(true);
      expect(checks.map(({ outcome }) => outcome)).toEqual(checks.map(() => 'ok'));
      expect(checks.length).toBeGreaterThan(8);
    } finally {
      await portal.close();
    }
  });

  test('an endpoint that the session-wide check refuses', async () => {
    const config = { csrf_exempt_routes: { oauth_server_token: false } };
    expect(await finding('csrf_exempt_routes', { config })).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('oauth_server_token'),
    });
  });

  test("a host's own consent view that throws, or whose answer could not be taken", async () => {
    await withView('<%= it.nothing.here %>', async (views) => {
      expect(await finding('views', { views })).toMatchObject({ outcome: 'failing' });
    });
    await withView('<form method="post"><button name="decision">Yes</button></form>', async (views) => {
      expect(await finding('views', { views })).toMatchObject({
        outcome: 'failing',
        detail: expect.stringContaining('lacks request_id, csrf_token'),
      });
    });
  });

  test('a sign-in route that is not there', async () => {
    const config = { oauth_server: { login_route: 'signin' } };
    expect(await finding('sign-in route', { config })).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining("oauth_server:login_route: no route is named 'signin'"),
    });
  });

  test('an unreadable signing key is named; a directory that others may read is a warning', async () => {
    const torn = await finding('signing key', {}, (portal) =>
      writeFile(path.join(portal.server.config.key_path, '9000000000000-torn.json'), '{'),
    );
    expect(torn).toMatchObject({ outcome: 'failing', detail: expect.stringContaining('9000000000000-torn') });
    const open = await finding('signing key', {}, (portal) => chmod(portal.server.config.key_path, 0o755));
    expect(open).toMatchObject({ outcome: 'warning' });
  });

  test('a client whose scope is offered no more', async () => {
    const found = await finding('clients', {}, async (portal) => {
      await registerClient(portal);
      await portal.application.database.execute("UPDATE oauth_clients SET scope = 'openid notes:erase'");
    });
    expect(found).toMatchObject({ outcome: 'warning', detail: expect.stringContaining('notes:erase') });
  });

  test('a store that is gone', async () => {
    const portal = await startPortal();
    await portal.application.database.close();
    const { checks, healthy } = await examine(portal.application, portal.server);
    expect(healthy).toBe(false);
    const outcomes = Object.fromEntries(checks.map(({ part, outcome }) => [part, outcome]));
    expect(outcomes).toMatchObject({ store: 'failing', schema: 'skipped', clients: 'skipped' });
    await portal.close();
  });

  test('endpoints that the application mounts itself are not looked for', async () => {
    const config = { oauth_server: { routes: false } };
    const found = await finding('endpoints', { config });
    expect(found).toMatchObject({
      outcome: 'skipped',
      detail: expect.stringContaining('oauth_server:routes'),
    });
  });
});
