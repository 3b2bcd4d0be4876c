// @engines sqlite: each endpoint makes the same query, which client-update.test.ts tests on every engine
import type { ScopedToolInterface } from '@portico/mcp';
import { createResourceServer } from '@portico/resource-server';
import type { ClientChanges } from 'portico';
import { expect, onTestFinished, test } from 'vitest';
import { basic } from './support/assistant.ts';
import { MOUNTS } from './support/mounts.ts';
import { NEST } from './support/mounts/nest.ts';
import { NEXT } from './support/mounts/next.ts';
import { ADA, REDIRECT_URI, VERIFIER } from './support/portal.ts';
import { waysOf } from './support/scale.ts';
import { newer, older } from './support/soak/calls.ts';
import { bearer, consentOf, requestOf } from './support/soak/path.ts';
import { createVisitor, locationOf } from './support/visitor.ts';

/**
 * A scope or grant that an operator removes from a client is removed at every endpoint that accepts
 * tokens, from the next call, in every mount.
 */

const mine: ScopedToolInterface = {
  name: () => 'mine',
  description: () => 'Says that it is there for somebody',
  inputSchema: () => ({ type: 'object' }),
  handle: () => ({ available: true }),
  personal: true,
  scope: () => 'mcp:tools',
};

const CONFIG = { mcp: { protocol_versions: ['2026-07-28', '2025-11-25'] } };
const MOUNTED = [...MOUNTS, ...NEST, NEXT];
const SCOPES = ['openid', 'orders:read', 'mcp:tools'];

// @shows AS-30.3, AS-30.5
test.each(waysOf(MOUNTED))(
  '$name: a removed scope and a removed grant stop working at every endpoint and API',
  async (mount) => {
    const running = await mount.start(CONFIG);
    onTestFinished(() => running.close());
    const { url, server } = running;
    await running.permit(ADA, 'orders:read mcp:tools');
    running.mcp.tools.register(mine);
    const client = await running.register({
      name: 'Shop',
      redirectUris: [REDIRECT_URI],
      scopes: SCOPES,
    });
    const asker = await running.register({ name: 'An API', grants: ['introspection'] });

    const visitor = createVisitor(url);
    const consent = await consentOf(visitor, requestOf(url, client.id, SCOPES.join(' ')));
    const back = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    const exchanged = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: basic(client) },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
    });
    const { access_token: token } = (await exchanged.json()) as { readonly access_token: string };

    const elsewhere = createResourceServer({
      issuer: url,
      clientId: asker.id,
      clientSecret: asker.secret,
      audience: running.mcp.resource,
      allowInsecureRequests: true,
    });
    const statusAt = async (at: string) =>
      (await fetch(`${url}${at}`, { headers: bearer(token) })).status;
    const called = async (message: typeof older) => {
      const { headers, body } = message('tools/call', { name: 'mine', arguments: {} });
      const accept = {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      };
      const answer = await fetch(running.mcp.resource, {
        method: 'POST',
        headers: { ...accept, ...bearer(token), ...headers },
        body,
      });
      const isServed = (await answer.text()).includes('available');
      expect(isServed).toBe(answer.status === 200);
      return answer.status;
    };
    const introspected = async () => {
      const form = { method: 'POST', body: new URLSearchParams({ token }) };
      const answer = await fetch(`${url}/oauth/introspect`, {
        ...form,
        headers: { Authorization: basic(asker) },
      });
      const { active, scope = '' } = (await answer.json()) as { active: boolean; scope?: string };
      return active ? scope : null;
    };
    const api = async () => {
      const found = await elsewhere.authorize(`Bearer ${token}`, 'orders:read');
      return found instanceof Response ? found.status : 200;
    };
    const doors = async () => ({
      api: await statusAt('/api/orders'),
      older: await called(older),
      newer: await called(newer),
      userinfo: await statusAt('/oauth/userinfo'),
      introspection: await introspected(),
      elsewhere: await api(),
    });
    const update = (changes: ClientChanges) =>
      server.clients.update(client.id, changes, { by: 'console' });

    const open = { api: 200, older: 200, newer: 200, userinfo: 200, elsewhere: 200 };
    expect(await doors()).toEqual({ ...open, introspection: SCOPES.join(' ') });
    await update({ removeScopes: ['orders:read'] });
    const withoutOrders = { ...open, api: 403, elsewhere: 403, introspection: 'openid mcp:tools' };
    expect(await doors()).toEqual(withoutOrders);
    await update({ removeScopes: ['mcp:tools'] });
    const withoutTools = { ...withoutOrders, older: 403, newer: 403, introspection: 'openid' };
    expect(await doors()).toEqual(withoutTools);
    await update({ removeScopes: ['openid'], addScopes: ['orders:read', 'mcp:tools'] });
    expect(await doors()).toEqual({
      ...open,
      userinfo: 403,
      introspection: 'orders:read mcp:tools',
    });
    await update({
      addGrants: ['client_credentials'],
      removeGrants: ['authorization_code', 'refresh_token'],
      removeRedirectUris: [REDIRECT_URI],
    });
    expect(await doors()).toEqual({
      api: 401,
      older: 401,
      newer: 401,
      userinfo: 401,
      introspection: null,
      elsewhere: 401,
    });
  },
);
