import { fetchableUrlProblem } from '../outbound/fetchable-urls.ts';

/** Client ids that are the URL of a document (draft-ietf-oauth-client-id-metadata-document-02 section 3). */
export interface ClientUrls {
  /**
   * Why a client with this id is refused now; null when it is not refused, and for an id that is
   * not a URL.
   */
  refusal(clientId: string): string | null;
}

/** `oauth_server:client_id_metadata_documents`. */
export type DocumentsConfig = boolean | DocumentHosts;

/** Hosts by name, or all below one: `*.example.com`. */
export interface DocumentHosts {
  /** Hosts whose documents are fetched; all that are not denied, unless given. */
  readonly allowed_hosts?: readonly string[] | undefined;
  /** Hosts whose documents are never fetched, even if they are allowed. */
  readonly denied_hosts?: readonly string[] | undefined;
}

/**
 * Ids that this server creates never begin like this (section 7.1), so such a client is described
 * by its document only.
 */
export function isClientUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/** A host name, or `*.` and one for all names below it. */
const HOST_PATTERN = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** Whether this names hosts: as URLs write them, in lower case and without Unicode. */
export function isHostPattern(pattern: string): boolean {
  return HOST_PATTERN.test(pattern);
}

export function createClientUrls(config: DocumentsConfig): ClientUrls {
  if (config === false) return { refusal: (clientId) => (isClientUrl(clientId) ? SWITCHED_OFF : null) };
  const { allowed_hosts: allowed, denied_hosts: denied = [] } = config === true ? {} : config;
  return {
    refusal(clientId) {
      if (!isClientUrl(clientId)) return null;
      const problem = fetchableUrlProblem(clientId);
      if (problem !== null) return `it ${problem}`;
      const { hostname } = new URL(clientId);
      const isNamed = (pattern: string) => matches(pattern, hostname);
      if (denied.some(isNamed)) return `${hostname} is one of denied_hosts`;
      return allowed === undefined || allowed.some(isNamed)
        ? null
        : `${hostname} is not one of allowed_hosts`;
    },
  };
}

const SWITCHED_OFF = 'oauth_server:client_id_metadata_documents is off';

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
