import { z } from 'zod';
import { isHostPattern, type DocumentHosts } from '../../http/outbound/hosts.ts';

const hosts = z
  .array(
    z
      .string({ error: 'must be a hostname' })
      .refine(
        isHostPattern,
        'must be a hostname in lower case, such as example.com, or *.example.com for all ' +
          'subdomains',
      ),
    { error: "must be a list of hosts, for example ['example.com', '*.example.org']" },
  )
  .optional();

const documents = z.union(
  [z.boolean(), z.strictObject({ allowed_hosts: hosts, denied_hosts: hosts })],
  {
    error(issue) {
      if (typeof issue.input !== 'object')
        return 'must be true, false or { allowed_hosts, denied_hosts }';
      const [, ofObject = []] = issue.errors;
      return ofObject.map(({ path, message }) => [...path, message].join(': ')).join('; ');
    },
  },
);

export const documentsShape = { client_id_metadata_documents: documents.optional() };

export interface DocumentsConfig {
  /**
   * Whether clients can use the `https` URL of their metadata as their client id
   * (draft-ietf-oauth-client-id-metadata-document-02). `true` accepts URLs on every host. To allow
   * or deny certain hosts, use an object. Default: false.
   */
  readonly client_id_metadata_documents?: boolean | DocumentHosts | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DocumentsConfig {}
  interface OAuthServerConfigInput extends DocumentsConfig {}
}
