// @engines sqlite: the database makes no difference
import { expect, test } from 'vitest';
import { ALGORITHMS } from './support/algorithms.ts';
import { GRANT_TYPES } from './support/grant-types.ts';
import { ClientDocuments } from '../packages/portico/src/features/client-documents/client-documents.ts';
import { NotNowError, OAuthError } from '../packages/portico/src/errors.ts';
import { OutboundError } from '../packages/portico/src/http/outbound/limits.ts';
import { createParameters } from '../packages/portico/src/parameters.ts';
import type { Parts } from '../packages/portico/src/feature.ts';
import type { Server } from '../packages/portico/src/server.ts';
import type { Client } from '../packages/portico/src/store/client.ts';
import { createScopeCatalog } from '../packages/portico/src/tokens/scopes.ts';
import { pushingClients } from '../packages/portico/src/features/pushed-requests/pushing-clients.ts';
import type { DocumentClientRecords } from '../packages/portico/src/features/client-documents/records.ts';

const NOW = 1_800_000_000_000;
const DOCUMENT = 'https://client.example/client.json';
const REQUEST = new Request('https://portal.example/oauth/par', { method: 'POST' });
const OWN = { id: 'app' } as Client;

interface About {
  readonly address?: string | null;
  readonly says?: object | Error;
  readonly kept?: { client: Client; freshUntil: number } | null;
}

/**
 * The client that pushes. `says` is the response of its host, and `kept` is its document in the
 * store.
 */
function start(about: About = {}) {
  const { address = '203.0.113.7', says = {}, kept = null } = about;
  const asked: object[] = [];
  const documentClients = {
    findDocumentClient: async (url) => {
      if (url.endsWith('/broken')) throw new TypeError('the store is away');
      return kept;
    },
    keepDocumentClient: () => Promise.reject(new Error('nothing is kept before it is shown')),
  } satisfies Partial<DocumentClientRecords>;
  const server = {
    config: { name: 'The portal' },
    takesKeys: () => false,
    grantTypes: () => GRANT_TYPES,
    store: { documentClients },
    fetching: {},
    audit: () => Promise.reject(new Error('nobody is registered before it is shown')),
    scopes: createScopeCatalog({ 'notes:read': 'Read notes' }),
    demands: [],
    profiles: { servers: null },
    keys: { algorithms: ALGORITHMS, all: async () => [] },
    clock: () => NOW,
  } as unknown as Server;
  const hosts = { denied_hosts: ['denied.example'] };
  const clientSource = new ClientDocuments(server, hosts, async (url, toldOf) => {
    asked.push(toldOf);
    if (says instanceof Error) throw says;
    const value = {
      client_name: 'A',
      redirect_uris: ['https://client.example/callback'],
      client_id: url.href,
    };
    return { value: { ...value, ...says }, headers: {} };
  });
  const clients = { find: async (id: string) => (id === OWN.id ? OWN : null) };
  const host = { clientAddress: () => address };
  const parts = { clients, clientSource } as unknown as Parts;
  const find = pushingClients({ ...server, host } as unknown as Server, parts);
  const pushedBy = (id: string, form = '') =>
    find(id, REQUEST, createParameters(new URLSearchParams(form)));
  return { pushedBy, asked };
}

test('a client without a metadata document is looked up, and nothing is fetched', async () => {
  const { pushedBy, asked } = start();
  expect([await pushedBy(OWN.id), await pushedBy('another'), asked]).toEqual([OWN, null, []]);
});

test('without metadata documents, every client is looked up', async () => {
  const clients = { find: async (id: string) => (id === OWN.id ? OWN : null) };
  const parts = { clients, clientSource: null } as unknown as Parts;
  const find = pushingClients({} as Server, parts);
  const form = createParameters(new URLSearchParams());
  expect([await find(OWN.id, REQUEST, form), await find(DOCUMENT, REQUEST, form)]).toEqual([
    OWN,
    null,
  ]);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  [null, ''],
])(
  'a document fetched for the address %s counts toward the limit of its network',
  async (address, network) => {
    const { pushedBy, asked } = start({ address });
    expect(await pushedBy(DOCUMENT)).toMatchObject({ id: DOCUMENT, registeredBy: 'document' });
    expect(asked).toEqual([expect.objectContaining({ person: network, isStranger: true })]);
  },
);

test('a document is fetched again for a requested scope that the stored document lacks', async () => {
  const client = { ...(await start().pushedBy(DOCUMENT)), scopes: ['openid'] } as Client;
  const kept = { client, freshUntil: NOW + 1000 };
  const scopesFor = async (form: string) => {
    const { pushedBy, asked } = start({ kept });
    return [(await pushedBy(DOCUMENT, form))?.scopes.includes('notes:read'), asked.length];
  };
  expect(await scopesFor('scope=openid')).toEqual([false, 0]);
  expect(await scopesFor('scope=openid+notes:read')).toEqual([true, 1]);
});

test('an invalid or disallowed document is an unknown client, with the reason in the log', async () => {
  const refused = await start({ says: { client_name: 7 } })
    .pushedBy(DOCUMENT)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OAuthError);
  expect(refused).toMatchObject({
    code: 'invalid_client',
    message: 'The client is unknown or could not be authenticated.',
    detail: expect.stringMatching(
      /^the document of the client "https:.*" cannot be used: .*client_name/,
    ) as string,
  });
  const { pushedBy, asked } = start();
  await expect(pushedBy('https://denied.example/client.json')).rejects.toMatchObject({
    code: 'invalid_client',
    detail: expect.stringContaining('denied.example is one of denied_hosts') as string,
  });
  expect(asked).toEqual([]);
});

test('a document that cannot be fetched now causes a temporary error with a time to retry', async () => {
  const says = new OutboundError('too many', 7);
  const refused = await start({ says })
    .pushedBy(DOCUMENT)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(NotNowError);
  expect(refused).toMatchObject({
    message: 'The document of the client cannot be fetched now; try again later.',
    tooMuch: false,
    detail: expect.stringContaining('too many') as string,
    retryAfter: 7,
  });
});

test('a server error is not reported as an error of the client', async () => {
  await expect(start().pushedBy('https://client.example/broken')).rejects.toThrow(TypeError);
});
