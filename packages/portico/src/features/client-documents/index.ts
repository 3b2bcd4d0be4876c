import { createFetchJson } from '../../http/outbound/fetch-json.ts';
import { defineFeature } from '../../feature.ts';
import { ClientDocuments } from './client-documents.ts';
import { documentsShape } from './config.ts';
import { examineDocuments } from './examination.ts';
import { DocumentClientRecords } from './records.ts';

declare module '../../store/store.ts' {
  interface FeatureRecords {
    readonly documentClients: DocumentClientRecords;
  }
}

/**
 * Accepts clients that use the URL of their metadata as their client id
 * (draft-ietf-oauth-client-id-metadata-document-02).
 */
export const clientDocuments = defineFeature({
  name: 'client_documents',
  config: documentsShape,
  arrivals: ({ client_id_metadata_documents: documents = false }) =>
    documents === false ? [] : [{ says: 'clients may be documents', as: 'as documents' }],
  records: (database) => ({ documentClients: new DocumentClientRecords(database) }),
  start(server, { client_id_metadata_documents: config = false }) {
    const clientSource = new ClientDocuments(server, config, createFetchJson(server.fetching));
    return {
      clientSource,
      metadata: config === false ? {} : { client_id_metadata_document_supported: true },
      examination: () => ({
        part: 'documents',
        of: 'clients',
        findings: () => (config === false ? [] : examineDocuments(server.store.clients, config)),
      }),
    };
  },
});
