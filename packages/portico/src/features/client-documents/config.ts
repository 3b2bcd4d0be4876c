import { z } from 'zod';
import { isHostPattern, type DocumentHosts } from '../../outbound/hosts.ts';

const hosts = z
  .array(
    z
      .string({ error: 'must be the name of a host' })
      .refine(
        isHostPattern,
        'is not a host; write example.com, or *.example.com for all below it, in lower case',
      ),
    { error: "must be a list of hosts, for example ['example.com', '*.example.org']" },
  )
  .optional();

const documents = z.union([z.boolean(), z.strictObject({ allowed_hosts: hosts, denied_hosts: hosts })], {
  error(issue) {
    if (typeof issue.input !== 'object') return 'must be true, false or { allowed_hosts, denied_hosts }';
    const [, ofObject = []] = issue.errors;
    return ofObject.map(({ path, message }) => [...path, message].join(': ')).join('; ');
  },
});

/** The key of `oauth_server` that clients as documents add. */
export const documentsShape = { client_id_metadata_documents: documents.optional() };

export interface DocumentsConfig {
  /**
   * Whether a client id may be the `https` URL of the client's metadata
   * (draft-ietf-oauth-client-id-metadata-document-02), from any host or only from some; false.
   */
  readonly client_id_metadata_documents?: boolean | DocumentHosts | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends DocumentsConfig {}
  interface OAuthServerConfigInput extends DocumentsConfig {}
}
