// @engines sqlite: test/back-channel-logout.test.ts ends sessions on every engine
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLogoutReceivers, type LogoutReceivers } from './support/logout-receiver.ts';
import {
  ADA,
  exchangeCode,
  obtainCode,
  PASSWORD,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { formOf } from './support/visitor.ts';

let receivers: LogoutReceivers;
let portal: RunningPortal;

beforeAll(async () => {
  receivers = await startLogoutReceivers();
  portal = await startPortal({
    config: { oauth_server: { back_channel_logout: true, logout: true, registration: 'open' } },
    outbound: receivers.outbound,
  });
});
afterAll(async () => {
  await receivers.close();
  await portal.close();
});

/** Signs Ada in to the portal and to a client. */
async function begin() {
  const receiver = receivers.receive('/logout');
  const metadata = { backchannel_logout_uri: [receiver.url] };
  const client = await registerClient(portal, { metadata });
  const ada = await portal.signedIn(ADA);
  const answer = await exchangeCode(portal, client, await obtainCode(portal, client, ada));
  const { refresh_token: token } = (await answer.json()) as Tokens;
  return { ada, refreshStatus: async () => (await refresh(portal, client, token)).status };
}

describe('the access of a client to which a person signed in with the kit', () => {
  // @shows AS-53.4
  test('ends when the person signs out of the application', async () => {
    const { ada, refreshStatus } = await begin();
    const { fields } = formOf(await (await ada.get('/')).text());
    await ada.post('/logout', fields);
    expect(await refreshStatus()).toBe(400);
  });

  // @shows AS-53.4
  test('ends when the application ends all sessions of the person, and counts them', async () => {
    const user = await portal.application.accounts.authenticate(ADA, PASSWORD);
    const person = user?.reference ?? { provider: '', id: '' };
    await portal.application.endSessions(person);
    const [one, other] = [await begin(), await begin()];
    expect(await portal.application.endSessions(person)).toBe(2);
    expect([await one.refreshStatus(), await other.refreshStatus()]).toEqual([400, 400]);
  });
});
