// Started by scripts/ways.ts: takes an authorization, a refresh, a call with a bearer token and a tool call through the
// examples, and prints the files of src/ that each passes, as JSON.
import { startAssistant } from '../../test/support/assistant.ts';
import {
  ADA,
  CHALLENGE,
  PASSWORD,
  REDIRECT_URI,
  registerClient,
  startPortal,
  VERIFIER,
} from '../../test/support/portal.ts';
import { locationOf } from '../../test/support/visitor.ts';
import { traced } from './trace.ts';

const ways: Record<string, readonly string[]> = {};

async function take<T>(name: string, work: () => Promise<T>): Promise<T> {
  const { result, entered } = await traced(work);
  ways[name] = [...(ways[name] ?? []), ...entered];
  return result;
}

// The engine does not matter: SQLite, whatever a test project may run on.
const portal = await startPortal({ databaseServer: null });
try {
  const { id, secret } = await registerClient(portal, {
    redirectUris: [REDIRECT_URI],
    scopes: ['openid', 'notes:read'],
  });
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid notes:read',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const visitor = portal.visitor();
  const signIn = locationOf(await take('authorization', () => visitor.get(`/oauth/authorize?${query}`)));
  const form = await visitor.get(signIn.href);
  const back = locationOf(await visitor.submit(form, { identifier: ADA, password: PASSWORD }));
  const consent = await take('authorization', () => visitor.get(back.href));
  const allowed = locationOf(
    await take('authorization', () => visitor.submit(consent, { decision: 'allow' })),
  );

  const client = { client_id: id, client_secret: secret };
  const exchange = async (given: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, ...given }),
    });
    return (await answer.json()) as { readonly access_token: string; readonly refresh_token: string };
  };
  const code = allowed.searchParams.get('code') ?? '';
  const first = await take('authorization', () =>
    exchange({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    }),
  );
  const { access_token } = await take('refresh', () =>
    exchange({ grant_type: 'refresh_token', refresh_token: first.refresh_token }),
  );
  const notes = await take('bearer', () =>
    fetch(`${portal.url}/api/notes`, { headers: { Authorization: `Bearer ${access_token}` } }),
  );
  if (notes.status !== 200) throw new Error(`The notes were answered ${notes.status}`);
} finally {
  await portal.close();
}

const kitchen = await startAssistant({ databaseServer: null });
try {
  const token = await kitchen.linkedToken();
  const call = async () => {
    const answer = await fetch(kitchen.resource, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'my_account', arguments: {} },
      }),
    });
    return answer.text();
  };
  // What the first call prepares is not on every call's way.
  await call();
  const answer = await take('tool call', call);
  if (!answer.includes('"result"')) throw new Error(`The tool was answered ${answer}`);
} finally {
  await kitchen.close();
}
process.stdout.write(JSON.stringify(ways));
