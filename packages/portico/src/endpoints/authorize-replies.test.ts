import { expect, test } from 'vitest';
import { ResponseModes } from '../authorization/response-modes.ts';
import { OAuthError } from '../errors.ts';
import { Speaking } from '../pages/speaking.ts';
import type { Server } from '../server.ts';
import type { RegisteredBy } from '../store/client.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { AuthorizeReplies, type SendingAdditions } from './authorize-replies.ts';

const server = {
  config: { name: 'Portal' },
  issuer: 'https://portal.example',
  speaking: new Speaking(),
  profiles: { servers: { redirectStatus: 303 }, of: () => null },
  host: { render: async (view: string, data: object) => JSON.stringify({ view, ...data }) },
} as unknown as Server;
const additions = { responseModes: new ResponseModes([]) } as unknown as SendingAdditions;
const create = () => new AuthorizeReplies(server, additions);
const request = new Request('https://portal.example/oauth/authorize');

function refuse(registeredBy: RegisteredBy, redirectUri = 'https://client.example/callback') {
  const client = storedClient('app', 0, { registeredBy });
  const error = new OAuthError('invalid_scope', 'No such scope.');
  return create().response(request, { redirectUri, state: 's', result: { error }, client });
}

const BACK =
  'https://client.example/callback?error=invalid_scope&error_description=No+such+scope.' +
  '&state=s&iss=https%3A%2F%2Fportal.example';

// @shows AS-7.18
test('an error for the website of an unverified client is a page with a link to the website', async () => {
  for (const registeredBy of ['registration', 'document'] as const) {
    const { status, body, headers } = await refuse(registeredBy);
    expect([status, headers['Location']]).toEqual([400, undefined]);
    expect(JSON.parse(String(body))).toMatchObject({
      view: 'oauth/error',
      serverName: 'Portal',
      status: 400,
      link: { href: BACK, text: expect.stringContaining('client.example') as string },
    });
  }
});

test('an error for a verified client, or for a program of the person, is a redirect', async () => {
  expect((await refuse('operator')).headers).toMatchObject({ Location: BACK });
  for (const uri of ['http://127.0.0.1:3000/callback', 'com.example.app:/callback'])
    expect((await refuse('registration', uri)).status).toBe(302);
});

test('the profile of the client decides the status of a redirect', () => {
  const client = storedClient('app', 0);
  const replies = create();
  expect([replies.redirectStatus(client), replies.redirectStatus(null)]).toEqual([302, 303]);
});

test('the texts of a reply are in the language of the person', async () => {
  expect(await create().words(request)).toMatchObject({ locale: 'en' });
});
