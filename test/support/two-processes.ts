import { expect } from 'vitest';
import { startBeside } from './beside.ts';
import {
  callApi,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './portal.ts';

/**
 * Two server processes on one database and one key directory, and a client that uses both. The
 * first server process is this process.
 */
export interface TwoProcesses {
  readonly one: RunningPortal;
  readonly other: RunningPortal;
  readonly client: TestClient;
  /** Checks in both processes that these tokens are not valid and give no new tokens. */
  expectDead(tokens: Tokens): Promise<void>;
  close(): Promise<void>;
}

export async function startTwoProcesses(): Promise<TwoProcesses> {
  const one = await startPortal();
  const { other, process } = await startBeside(one);
  const client = await registerClient(one);
  return {
    one,
    other,
    client,
    async expectDead(tokens) {
      for (const portal of [one, other]) {
        expect((await callApi(portal, '/api/whoami', tokens.access_token)).status).toBe(401);
        expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(400);
      }
    },
    async close() {
      await process.stop();
      await one.close();
    },
  };
}
