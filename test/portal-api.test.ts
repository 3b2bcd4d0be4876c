// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  callApi,
  GRACE,
  obtainTokens,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
let ada: string;
let grace: string;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
  ada = (await obtainTokens(portal, client, ADA)).access_token;
  grace = (await obtainTokens(portal, client, GRACE)).access_token;
});
afterAll(() => portal.close());

interface Note {
  readonly id: string;
  readonly text: string;
}

function write(accessToken: string, body: string, type = 'application/json'): Promise<Response> {
  return callApi(portal, '/api/notes', accessToken, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
}

async function notes(accessToken: string): Promise<readonly Note[]> {
  return ((await (await callApi(portal, '/api/notes', accessToken)).json()) as { data: Note[] })
    .data;
}

describe('the notes API', () => {
  test('stores the notes of a person in order, trimmed, each with a different ID', async () => {
    const written = [];
    for (const text of ['  first ', 'second', 'first']) {
      const answer = await write(ada, JSON.stringify({ text }), 'Application/JSON; charset=utf-8');
      expect(answer.status).toBe(201);
      written.push(((await answer.json()) as { data: Note }).data);
    }
    expect(written.map(({ text }) => text)).toEqual(['first', 'second', 'first']);
    expect(new Set(written.map(({ id }) => id)).size).toBe(3);
    expect(await notes(ada)).toEqual(written);
  });

  test('never shows the notes of a different person', async () => {
    await write(ada, '{"text":"for my eyes"}');
    expect(await notes(grace)).toEqual([]);
  });

  test('returns to each of many simultaneous writers the note that it wrote', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `note ${index}`);
    const answers = await Promise.all(
      texts.map(async (text) => {
        const answer = await write(ada, JSON.stringify({ text }));
        return ((await answer.json()) as { data: Note }).data;
      }),
    );
    expect(answers.map(({ text }) => text)).toEqual(texts);
    const kept = new Map((await notes(ada)).map(({ id, text }) => [id, text]));
    for (const { id, text } of answers) expect(kept.get(id)).toBe(text);
  });

  test.each([
    ['a different media type', 415, '{"text":"x"}', 'text/plain'],
    ['malformed JSON', 400, '{"text":', undefined],
    ['null', 422, 'null', undefined],
    ['an array', 422, '[{"text":"x"}]', undefined],
    ['no text', 422, '{}', undefined],
    ['a text that is not a string', 422, '{"text":1}', undefined],
    ['a blank text', 422, '{"text":" \\n "}', undefined],
    ['a text of 2001 characters', 422, JSON.stringify({ text: 'x'.repeat(2001) }), undefined],
    ['a text with a NUL', 422, '{"text":"a\\u0000b"}', undefined],
  ])('refuses %s with %i, and stores nothing', async (_, status, body, type) => {
    const before = await notes(ada);
    const answer = await write(ada, body, type);
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as { error: string }).error).not.toBe('');
    expect(await notes(ada)).toEqual(before);
  });

  test('accepts 2000 characters, not counting whitespace at the ends', async () => {
    const text = 'é'.repeat(2000);
    expect((await write(ada, JSON.stringify({ text: `  ${text}\n` }))).status).toBe(201);
    expect((await notes(ada)).at(-1)?.text).toBe(text);
  });

  test('refuses a person without the permission', async () => {
    expect((await write(grace, '{"text":"x"}')).status).toBe(403);
  });

  test('has no notes for an application that acts without a person', async () => {
    const job = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read', 'notes:write'],
    });
    const issued = await requestToken(portal, job, { grant_type: 'client_credentials' });
    const { access_token } = (await issued.json()) as Tokens;
    expect(await notes(access_token)).toEqual([]);
    expect((await write(access_token, '{"text":"x"}')).status).toBe(403);
    expect(await (await callApi(portal, '/api/whoami', access_token)).json()).toEqual({
      kind: 'application',
      name: null,
    });
  });
});

test('the home page escapes HTML in notes', async () => {
  await write(ada, JSON.stringify({ text: '<script>alert(1)</script>' }));
  const html = await (await (await portal.signedIn(ADA)).get('/')).text();
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).not.toContain('<script');
});
