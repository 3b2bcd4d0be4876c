import { ok } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Contribution } from '../../feature.ts';
import type { Server } from '../../server.ts';
import { documentsShape } from './config.ts';
import { clientDocuments } from './index.ts';
import { DocumentClientRecords } from './records.ts';

const CLIENTS = [
  { registeredBy: 'operator', revokedAt: null },
  { registeredBy: 'document', revokedAt: null },
  { registeredBy: 'document', revokedAt: null },
  { registeredBy: 'document', revokedAt: 1 },
];

/** Returns what the feature adds to a server with two pages of clients. */
function start(config: object): Contribution {
  const pages = [1001, 4].map((length, page) =>
    Array.from({ length }, (_, index) => ({
      id: `${page}${index}`,
      registeredBy: 'registration',
      revokedAt: null,
      ...CLIENTS[index],
    })),
  );
  const server = {
    fetching: {},
    clock: () => 0,
    store: { clients: { listClientsAfter: async (after: string) => pages[after === '' ? 0 : 1] } },
  } as unknown as Server;
  return clientDocuments.start?.(server, config as never) ?? {};
}

async function examine(config: unknown) {
  const examination = start({ client_id_metadata_documents: config }).examination?.({} as never);
  expect(examination).toMatchObject({ part: 'documents', of: 'clients' });
  return examination?.findings?.({} as never);
}

describe('client documents', () => {
  test.each([{}, { client_id_metadata_documents: false }])('are off with %j', async (config) => {
    const { metadata, clientSource } = start(config);
    expect(metadata).toEqual({});
    expect(clientSource?.refusal('https://client.example/client.json')).not.toBeNull();
    expect(clientDocuments.arrivals?.(config as never)).toEqual([]);
    expect(await examine(false)).toEqual([]);
  });

  test.each([true, { allowed_hosts: ['client.example'] }])('are on with %j', (documents) => {
    const config = { client_id_metadata_documents: documents };
    const { metadata, clientSource } = start(config);
    expect(metadata).toEqual({ client_id_metadata_document_supported: true });
    expect(clientSource?.refusal('https://client.example/client.json')).toBeNull();
    expect(clientDocuments.arrivals?.(config as never)).toEqual([
      { says: 'clients may be documents', as: 'as documents' },
    ]);
  });

  test('have their own rows', () => {
    const { documentClients } = clientDocuments.records?.({} as never) ?? {};
    expect(documentClients).toBeInstanceOf(DocumentClientRecords);
  });

  test('are counted by the examination, which names the allowed hosts', async () => {
    const found = (hosts: string) =>
      ok(`client documents are accepted from ${hosts} (known: 4, blocked: 2)`);
    expect(await examine(true)).toEqual([found('any host')]);
    expect(await examine({ denied_hosts: ['a.example'] })).toEqual([found('any host')]);
    expect(await examine({ allowed_hosts: ['a.example', '*.b.example'] })).toEqual([
      found('a.example, *.b.example'),
    ]);
  });
});

describe('the configuration of client documents', () => {
  const shape = z.object(documentsShape);
  const problems = (value: unknown) =>
    shape
      .safeParse({ client_id_metadata_documents: value })
      .error?.issues.map(({ message }) => message);

  test('accepts a switch, or lists of hosts', () => {
    const hosts = ['client.example', '*.client.example', 'localhost'];
    for (const value of [true, false, undefined, {}, { allowed_hosts: hosts, denied_hosts: hosts }])
      expect(problems(value)).toBeUndefined();
  });

  test('explains what is wrong', () => {
    expect(problems('yes')).toEqual(['must be true, false or { allowed_hosts, denied_hosts }']);
    expect(problems({ allowed_hosts: 'a', denied_hosts: ['A.example', 7] })).toEqual([
      "allowed_hosts: must be a list of hosts, for example ['example.com', '*.example.org']; " +
        'denied_hosts: 0: must be a hostname in lower case, such as example.com, or ' +
        '*.example.com for all subdomains; denied_hosts: 1: must be a hostname',
    ]);
  });

  test.each([
    '',
    'a b',
    '*',
    '*.',
    'a.*.example',
    'xx*.a',
    '.a',
    'a.',
    'a..b',
    'é.example',
    'https://a',
    'a\nb',
  ])('refuses the host %j', (host) => {
    expect(problems({ denied_hosts: [host] })).toHaveLength(1);
  });
});
