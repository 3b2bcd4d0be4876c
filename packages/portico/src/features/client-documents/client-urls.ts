import { isClientUrl } from '../../clients/client-source.ts';
import { fetchableUrlProblem } from '../../http/outbound/fetchable-urls.ts';
import { hostProblem, type DocumentHosts } from '../../http/outbound/hosts.ts';

/**
 * Returns why the server rejects this client id (draft-ietf-oauth-client-id-metadata-document-02
 * section 3). Returns null if the configuration accepts the id, or if it is not an `https` URL.
 */
export function urlRefusal(clientId: string, config: boolean | DocumentHosts): string | null {
  if (!isClientUrl(clientId)) return null;
  if (config === false) return SWITCHED_OFF;
  const problem = fetchableUrlProblem(clientId);
  if (problem !== null) return `it ${problem}`;
  return config === true ? null : hostProblem(new URL(clientId).hostname, config);
}

const SWITCHED_OFF = 'oauth_server:client_id_metadata_documents is off';
