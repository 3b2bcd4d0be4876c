import { ok, type Finding } from '@portico/sql';
import { clientPages, listPage } from '../../clients/listing.ts';
import type { DocumentHosts } from '../../http/outbound/hosts.ts';
import type { ClientRecords } from '../../store/sql/clients.ts';

/**
 * Reports from which hosts the server accepts documents, how many document clients are active, and
 * how many are blocked.
 */
export async function examineDocuments(
  store: ClientRecords,
  config: true | DocumentHosts,
): Promise<readonly Finding[]> {
  let [known, blocked] = [0, 0];
  for await (const { items } of clientPages({ page: (page) => listPage(store, page) })) {
    const documents = items.filter(({ registeredBy }) => registeredBy === 'document');
    const living = documents.filter(({ revokedAt }) => revokedAt === null).length;
    known += living;
    blocked += documents.length - living;
  }
  const { allowed_hosts: allowed } = config === true ? {} : config;
  return [
    ok(
      `client documents are accepted from ${allowed?.join(', ') ?? 'any host'} (known: ` +
        `${known}, blocked: ${blocked})`,
    ),
  ];
}
