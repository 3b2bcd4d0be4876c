// @engines sqlite: pages are the same on every engine
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { putUnverified } from './support/unverified.ts';
import type { Visitor } from './support/visitor.ts';

const EXPLAINED = 'Every note, <b>also</b> those that were shared with you';
const SCOPES = {
  'notes:read': { label: 'Read your notes', description: EXPLAINED },
  'notes:files.readonly': { label: 'Look at files', permission: 'notes:read' },
  notes: { label: 'Whatever it is', permission: 'notes:read' },
  birthday: { label: 'See your birthday', permission: 'notes:read', group: 'identity' },
};

let portal: RunningPortal;
let ada: Visitor;

beforeAll(async () => {
  portal = await startPortal({ config: { oauth_server: { scopes: SCOPES } } });
  ada = await portal.signedIn(ADA);
});
afterAll(() => portal.close());

const textOf = (html: string) =>
  html
    .replace(/<style[\s\S]*<\/style>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

async function shown(client: TestClient, scope: string, visitor = ada): Promise<string> {
  const page = await visitor.get(authorizationUrl(portal, client, { scope }));
  expect(page.status).toBe(200);
  return page.text();
}

const registered = (scope: string, more: object = {}) =>
  registerClient(portal, { name: 'Notebook', scopes: scope.split(' '), ...more });

describe('the scopes on the consent page', () => {
  // @shows AS-40.1
  test('are grouped: who the person is, what is read, what is changed', async () => {
    const scope = 'notes:write notes birthday notes:read openid notes:files.readonly';
    const text = textOf(await shown(await registered(scope), scope));
    expect(text).toContain(
      'It will be able to Who you are See your birthday Confirm who you are ' +
        'See Read your notes Every note, &lt;b&gt;also&lt;/b&gt; those that were shared with you Look at files ' +
        'Change Write notes for you Whatever it is ',
    );
  });

  // @shows AS-40.1
  test('have no headings if all are of one group; each explanation is folded below its label', async () => {
    const html = await shown(await registered('notes:read'), 'notes:read');
    expect(html).not.toContain('<h3');
    expect(html).toMatch(
      /<li><details><summary>Read your notes<\/summary><p>Every note, &lt;b&gt;also&lt;\/b&gt; those/,
    );
  });

  // @shows AS-40.1
  test.each([
    [{ label: 'x', group: 'write' }, 'must be "identity", "read" or "change"'],
    [{ label: 'x', description: ' ' }, 'is empty; explain what it allows, or omit it'],
  ])('cannot be configured as %j', async (scope, problem) => {
    const started = startPortal({ config: { oauth_server: { scopes: { 'x:read': scope } } } });
    await expect(started).rejects.toThrow(problem);
  });

  // @shows AS-40.2
  test('are shown with how long the access lasts and where to end it', async () => {
    const lasting = await shown(await registered('notes:read'), 'notes:read');
    expect(textOf(lasting)).toContain(
      'Access ends when you remove it, or when the application has not used it for 30 days. ' +
        'You can remove access at any time: Applications with access',
    );
    expect(lasting).toContain('<a href="/oauth/applications"');
    const once = await registered('notes:read', { grants: ['authorization_code'] });
    expect(textOf(await shown(once, 'notes:read'))).toContain('Access lasts at most 1 hour.');
  });
});

describe('a client on the consent page', () => {
  const MARKED = 'This is not Portal itself. It is another application with a similar name.';

  // @shows AS-40.3
  test.each([
    ['its own name', 'Portal'],
    ['in a different case and with spaces', 'P O R T A L'],
    ['with a digit', 'Porta1'],
    ['with Cyrillic letters', 'Роrtаl'],
    ['with Greek letters', 'Ρορtαl'.replace('ρ', 'r')],
    ['in wide letters', 'Ｐｏｒｔａｌ'],
    ['with an accent', 'Pörtál'],
    ['with signs in it', 'Port@l!'],
    ['in small capitals', 'ᴘᴏʀᴛᴀʟ'],
    ['in letters of Lisu', 'ꓑꓳꓣꓔꓮꓡ'],
    ['in letters of Cherokee', 'ᏢOᎡᎢᎪᏞ'],
    ['with strokes', 'Pørŧał'],
    ['in boxes', '🅿🅾🆁🆃🅰🅻'],
    ['in circles', '🅟🅞🅡🅣🅐🅛'],
    ['in letters that flags are written with', '🇵 🇴 🇷 🇹 🇦 🇱'],
  ])('is marked if its name is like the name of the server: %s', async (_, name) => {
    const client = await registered('notes:read', { name });
    expect(textOf(await shown(client, 'notes:read'))).toContain(MARKED);
  });

  // @shows AS-40.3
  test.each(['Notebook', 'Portal Notes', 'Port', 'Portrait', '門戶', 'Øresund', 'Notes 🇩🇪', 'ᏣᎳᎩ'])(
    'is not marked if it has a different name: %s',
    async (name) => {
      const client = await registered('notes:read', { name });
      expect(textOf(await shown(client, 'notes:read'))).not.toContain('This is not');
    },
  );

  // @shows AS-40.3
  test.each(['Porta1 Security', 'Po\u200brtal', 'РОRTAL', 'ꓑꓳꓣꓔꓮꓡ'])(
    'is not shown by name if it is unverified and its name is like that of the server: %s',
    async (name) => {
      const client = await putUnverified(portal, {
        document: null,
        name,
        redirectUris: ['https://client.example/callback'],
      });
      const text = textOf(await shown(client, 'notes:read'));
      expect(text).toContain('Its name is similar to Portal, but it is not Portal.');
      expect(text).not.toContain('It calls itself');
      expect(text).not.toContain(name);
    },
  );
});
