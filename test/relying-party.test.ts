// @engines sqlite: a relying party sees no difference between engines
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRelyingParty, type RelyingParty } from '../examples/relying-party/server.ts';
import { toTryNext } from '../examples/relying-party/to-try-next.ts';
import { ADA, registerClient, startPortal, type RunningPortal } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { createVisitor, locationOf, type Visitor } from './support/visitor.ts';

let portal: RunningPortal;
let relyingParty: RelyingParty;
let home: string;
let clientSecret: string;
/** In milliseconds, how far the clock of the relying party is ahead. */
let ahead = 0;

beforeAll(async () => {
  portal = await startPortal();
  const port = await freePort();
  home = `http://localhost:${port}`;
  const client = await registerClient(portal, {
    name: 'Notebook',
    redirectUris: [`${home}/callback`],
  });
  clientSecret = client.secret;
  relyingParty = await startRelyingParty({
    port,
    publicUrl: home,
    issuer: portal.url,
    clientId: client.id,
    clientSecret: client.secret,
    refreshTokenLifetime: 30 * 86_400,
    now: () => Date.now() + ahead,
  });
});
afterAll(async () => {
  await relyingParty.close();
  await portal.close();
});

/**
 * Signs in and answers the consent screen; returns the redirect to the relying party, without
 * following it.
 */
async function wayBack(visitor: Visitor, decision: 'allow' | 'deny'): Promise<URL> {
  const away = locationOf(await visitor.post('/sign-in', {}));
  const ada = await portal.signedIn(ADA);
  return locationOf(await ada.submit(await ada.visit(away.href), { decision }));
}

async function signedIn(): Promise<Visitor> {
  const visitor = createVisitor(home);
  expect((await visitor.visit((await wayBack(visitor, 'allow')).href)).status).toBe(200);
  return visitor;
}

/** Sends a form as a browser would from a page of this origin. */
function send(visitor: Visitor, path: string, origin: string, form: Record<string, string> = {}) {
  return fetch(`${home}${path}`, {
    method: 'POST',
    headers: { cookie: visitor.cookies(), origin },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
}

const pageOf = async (visitor: Visitor) => (await visitor.get('/')).text();

describe('the sign-in', () => {
  test('shows the contents of the ID token, UserInfo and the notes API', async () => {
    const page = await pageOf(await signedIn());
    for (const said of ['Ada Lovelace', 'UserInfo answers 200', 'The notes API answers 200']) {
      expect(page).toContain(said);
    }
  });

  test('explains a denial in friendly words, with a link to try again', async () => {
    const visitor = createVisitor(home);
    const answer = await visitor.visit((await wayBack(visitor, 'deny')).href);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page).toContain('You did not allow it');
    expect(page).toContain('Try again');
  });

  test.each([
    // @shows RFC9700-2.1g, RFC10017-6.3.2.2b
    ['a different state', 'state', 'not-the-state'],
    // @shows RFC9207-2.4, RFC9700-2.1e
    // @shows RFC9700-4.4.2, RFC10017-9.3
    ['a different issuer', 'iss', 'https://attacker.example'],
    ['an invented code', 'code', 'invented'],
  ])('does not sign a person in after a callback with %s', async (_, name, value) => {
    const visitor = createVisitor(home);
    const back = await wayBack(visitor, 'allow');
    back.searchParams.set(name, value);
    expect((await visitor.visit(back.href)).status).toBe(400);
    expect(await pageOf(visitor)).toContain('Sign in with Portal');
  });

  // @shows RFC9700-2.1g, RFC10017-6.3.2.2b
  test('does not sign a person in after a callback in a browser that did not start it', async () => {
    const back = await wayBack(createVisitor(home), 'allow');
    const stranger = createVisitor(home);
    expect((await stranger.visit(back.href)).status).toBe(400);
    expect(await pageOf(stranger)).toContain('Sign in with Portal');
  });

  // @shows RFC9700-4.2.4e
  test('accepts a callback once, and a second one does not end the session of the first', async () => {
    const visitor = createVisitor(home);
    const back = await wayBack(visitor, 'allow');
    const answers = await Promise.all([visitor.get(back.href), visitor.get(back.href)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303, 400]));
    expect(await pageOf(visitor)).toContain('UserInfo answers 200');
  });
});

describe('a form from a different origin, which SameSite does not block on the same machine,', () => {
  // @shows RFC10017-6.1.3.3
  test.each(['/notes', '/refresh', '/sign-out'])('is refused at %s', async (path) => {
    const visitor = await signedIn();
    expect((await send(visitor, path, portal.url, { text: 'planted' })).status).toBe(403);
    const page = await pageOf(visitor);
    expect(page).toContain('Ada Lovelace');
    expect(page).not.toContain('planted');
  });
});

describe('the page that shows the last steps', () => {
  const STEPS = [
    'POST /sign-in',
    'GET /oauth/authorize',
    'You sign in and allow it',
    'GET /callback',
    'POST /oauth/token',
    '200: the tokens',
    'GET /oauth/userinfo',
    'GET /api/notes',
  ];
  const picture = (page: string) => /<svg\s+class="picture"[^]*?<\/svg>/.exec(page)?.[0] ?? '';
  const sentOf = (page: string) =>
    [...page.matchAll(/<dt>([^<]*)<\/dt>\s*<dd>([^<]*)<\/dd>/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    );

  test('has each step in the diagram and in the list, in the order of events', async () => {
    const page = await pageOf(await signedIn());
    const drawn = [...picture(page).matchAll(/class="label"[^>]*>([^<]*)</g)].map(([, label]) =>
      label?.trim(),
    );
    const listed = [...page.matchAll(/<li>\s*<strong>([^<]*)<\/strong>/g)].map(
      ([, label]) => label,
    );
    expect(drawn).toEqual(STEPS);
    expect(listed.slice(0, STEPS.length)).toEqual(STEPS);
  });

  test('shows only the beginning of every secret', async () => {
    const visitor = createVisitor(home);
    const back = await wayBack(visitor, 'allow');
    await visitor.visit(back.href);
    const page = await pageOf(visitor);
    const sent = new Map(sentOf(page));
    for (const name of [
      'access_token',
      'refresh_token',
      'id_token',
      'code',
      'code_verifier',
      'state',
      'nonce',
    ])
      expect(sent.get(name), name).toMatch(/^[^…]{6}…$/);
    expect(page).not.toContain(back.searchParams.get('code'));
    expect(page).not.toContain(back.searchParams.get('state'));
    expect(page).not.toContain(clientSecret);
    expect(sent.get('code_challenge_method')).toBe('S256');
  });

  test('shows how long each token is valid, and how much time is left', async () => {
    const visitor = await signedIn();
    const left = async () =>
      [...(await pageOf(visitor)).matchAll(/(\d+ \w+) left|(It has expired)/g)].map(
        ([, some, none]) => some ?? none,
      );
    try {
      ahead = 60_000;
      expect(await left()).toEqual(['59 minutes', '59 minutes', '30 days']);
      ahead = 3_600_000 + 60_000;
      expect(await left()).toEqual(['It has expired', 'It has expired', '30 days']);
    } finally {
      ahead = 0;
    }
  });

  test('shows the refresh after a refresh, and no longer the used token', async () => {
    const visitor = await signedIn();
    const before = new Map(sentOf(await pageOf(visitor))).get('refresh_token');
    await send(visitor, '/refresh', home);
    const page = await pageOf(visitor);
    expect(picture(page)).not.toContain('/oauth/authorize');
    const offered = sentOf(page).filter(([name]) => name === 'refresh_token');
    expect(offered[0]?.[1]).toBe(before);
    expect(sentOf(page)).toContainEqual(['grant_type', 'refresh_token']);
  });

  test('shows commands for the signed-in person, without an address that a shell would interpret', async () => {
    expect(await pageOf(await signedIn())).toContain(`npx portico account:deny ${ADA} notes:read`);
    for (const odd of ['x;reboot@example.com', '$(id)@example.com', 'a b@example.com', undefined])
      expect(String(await toTryNext(home, odd))).toContain(
        'account:deny ada@example.com notes:read',
      );
  });
});

describe('after sign-in', () => {
  test('the result of a note action is shown once', async () => {
    const visitor = await signedIn();
    expect((await send(visitor, '/notes', home, { text: 'Buy milk' })).status).toBe(303);
    const page = await pageOf(visitor);
    expect(page).toContain('The portal stored the note.');
    expect(page).toContain('Buy milk');
    expect(await pageOf(visitor)).not.toContain('The portal stored the note.');
  });

  test('a refresh button that is pressed several times refreshes once, and access continues', async () => {
    const visitor = await signedIn();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send(visitor, '/refresh', home)),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
    expect(await pageOf(visitor)).toContain('UserInfo answers 200');
    expect((await send(visitor, '/refresh', home)).status).toBe(303);
  });

  test('the page shows 401 for a suspended person, and a refresh ends the access', async () => {
    const visitor = await signedIn();
    await portal.suspend(ADA);
    try {
      expect(await pageOf(visitor)).toContain('UserInfo answers 401');
      const refused = await send(visitor, '/refresh', home);
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('The access has ended');
    } finally {
      await portal.restore(ADA);
    }
    expect(await pageOf(visitor)).toContain('Sign in with Portal');
  });

  test('sign-out ends the session, even for a copy of its cookie', async () => {
    const visitor = await signedIn();
    await send(visitor, '/sign-out', home);
    expect(await pageOf(visitor)).toContain('Sign in with Portal');
  });
});

test('nothing is sent over plain http to a portal on a different machine', async () => {
  const port = await freePort();
  const misdirected = await startRelyingParty({
    port,
    publicUrl: `http://localhost:${port}`,
    issuer: 'http://portal.invalid',
    clientId: 'client',
    clientSecret: 'secret',
  });
  try {
    const answer = await createVisitor(`http://localhost:${port}`).post('/sign-in', {});
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('only requests to HTTPS are allowed');
  } finally {
    await misdirected.close();
  }
});

test('the pages are not cached or framed, run no script, and have their styles', async () => {
  const { headers } = await fetch(home);
  expect(headers.get('cache-control')).toBe('no-store');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('script-src');
  const style = await fetch(`${home}/style.css`);
  expect(style.headers.get('content-type')).toContain('text/css');
});
