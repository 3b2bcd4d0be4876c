// @engines all: the store fails while it records the result of an assertion
import { readFile } from 'node:fs/promises';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  accountOf,
  assertionFor,
  IDP,
  JWT_BEARER,
  link,
  present,
  registerAssistant,
  startIdentityProvider,
  type IdentityProvider,
} from './support/identity-provider.ts';
import { createLossyStore, type LossyStore } from './support/lossy-store.ts';
import { openStore, type OpenedStore } from './support/opened-store.ts';
import {
  ADA,
  callApi,
  errorOf,
  GRACE,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** The store is lost while an assertion of an organization is exchanged for a token. */

let opened: OpenedStore;
let store: LossyStore;
let idp: IdentityProvider;
let portal: RunningPortal;
/** A client that has only this grant. */
let assistant: TestClient;
let assertion: string;

beforeAll(async () => {
  opened = await openStore();
  store = createLossyStore(opened.inner);
  idp = await startIdentityProvider();
  portal = await startPortal({ database: store.database, config: idp.config });
  assistant = await registerAssistant(portal, { grants: [JWT_BEARER] });
  await link(portal, ADA);
});
beforeEach(async () => {
  await portal.restore(ADA);
  assertion = assertionFor(portal, assistant, idp.key);
});
afterAll(async () => {
  await portal.close();
  await idp.close();
  await opened.close();
});

const ask = () => present(portal, assistant, assertion);

type Loss = NonNullable<LossyStore['loses']>;

/** Presents the assertion, and loses the store when it begins the access. It is back afterwards. */
async function loseBeginning(when: Loss): Promise<void> {
  store.loses = when;
  expect((await ask()).status).toBe(503);
  store.isAway = false;
}

/** The same, when the store issues the token. The access has begun. */
async function loseToken(when: Loss): Promise<void> {
  store.whenLost = () => {
    store.whenLost = () => {};
    store.isAway = false;
    store.loses = when;
  };
  await loseBeginning('after it took effect');
  expect(store.loses).toBeNull();
}

const expectRefused = async (answer: Response) => {
  expect([answer.status, await errorOf(answer)]).toEqual([400, 'invalid_grant']);
};

describe('an assertion retried after a lost response, by a client with only this grant,', () => {
  // @shows AS-18.24, AS-49.2
  test('gives the token that was issued, once', async () => {
    await loseToken('after it took effect');
    const answer = await ask();
    expect(answer.status).toBe(200);
    const tokens = (await answer.json()) as Tokens;
    expect(tokens).not.toHaveProperty('refresh_token');
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
    await expectRefused(await ask());
    // A second use of an assertion is refused, and ends nothing.
    expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(200);
  });

  // @shows AS-18.24
  test('gives no token if the person is suspended, also after the person is restored', async () => {
    await loseToken('after it took effect');
    await portal.suspend(ADA);
    await expectRefused(await ask());
    await portal.restore(ADA);
    await expectRefused(await ask());
  });

  // @shows AS-18.24, AS-49.2
  test.each<[string, () => Promise<void>]>([
    ['the token was not issued', () => loseToken('before it took effect')],
    ['the access had begun', () => loseBeginning('after it took effect')],
    ['the access had not begun', () => loseBeginning('before it took effect')],
  ])('is refused if %s, and the next assertion gives a token', async (_, lose) => {
    await lose();
    await expectRefused(await ask());
    assertion = assertionFor(portal, assistant, idp.key);
    expect((await ask()).status).toBe(200);
  });

  // @shows AS-18.24, AS-49.6
  test('is refused if the access was ended in the meantime', async () => {
    await loseToken('after it took effect');
    const person = await accountOf(portal, ADA);
    await portal.server.access.revokePerson(person);
    await expectRefused(await ask());
    await portal.server.organizationAccess?.allow({ person, clientId: null });
  });
});

// @shows AS-49.5
test('if the store is lost while a link is removed, the error says that its access may still be listed', async () => {
  const { access, organizationAccess } = portal.server;
  await link(portal, GRACE, 'lost');
  const answer = await present(
    portal,
    assistant,
    assertionFor(portal, assistant, idp.key, { sub: 'lost' }),
  );
  const { access_token: token } = (await answer.json()) as Tokens;
  portal.application.events.on(AUDIT, ({ type }: AuditEvent) => {
    if (type === 'subject_unlinked') store.isAway = true;
  });
  await expect(organizationAccess?.unlink({ issuer: IDP, subject: 'lost' })).rejects.toThrow(
    'The subject is no longer linked',
  );
  store.isAway = false;
  expect((await callApi(portal, '/api/whoami', token)).status).toBe(401);
  const { items } = await access.list({ person: await accountOf(portal, GRACE) });
  expect(items).toHaveLength(1);
  for (const { id } of items) await access.revokeAuthorization(id);
  expect((await access.list({ person: await accountOf(portal, GRACE) })).items).toEqual([]);
});

// @shows AS-49.5
test('if the store is lost before all links of a subject are removed, the error says to remove them again', async () => {
  const { trusted_issuers: issuers, ...others } = idp.config.oauth_server;
  const trusted = { [IDP]: { ...(issuers as Record<string, object>)[IDP], tenant: 'acme' } };
  const key = { key_path: portal.server.config.key_path };
  const acme = await startPortal({
    database: store.database,
    config: { oauth_server: { ...others, ...key, trusted_issuers: trusted } },
  });
  onTestFinished(() => acme.close());
  await link(acme, ADA, 'twice');
  await link(portal, GRACE, 'twice');
  let unlinked = 0;
  portal.application.events.on(AUDIT, ({ type }: AuditEvent) => {
    if (type !== 'subject_unlinked') return;
    unlinked += 1;
    store.isAway = unlinked === 1;
  });
  const linesOf = async () =>
    (await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8')).split('\n');
  const logged = await linesOf();
  const unlink = () => portal.server.organizationAccess?.unlink({ issuer: IDP, subject: 'twice' });
  await expect(unlink()).rejects.toThrow(
    'The store failed before the subject was unlinked in each tenant; remove the link again',
  );
  const lines = (await linesOf()).slice(logged.length - 1);
  expect(lines.filter((line) => line.includes('was not unlinked completely'))).toHaveLength(2);
  store.isAway = false;
  await unlink();
  await expect(unlink()).rejects.toThrow('No account is linked');
});
