import { storedClient } from './stored-client.ts';
import type { Client } from '../../packages/portico/src/store/client.ts';
import type { ClientDemand } from '../../packages/portico/src/store/client-demands.ts';
import type { MetadataField } from '../../packages/portico/src/store/further-metadata.ts';
import type { ClientChoices } from '../../packages/portico/src/console/commands/client-create.ts';

export const BY = { by: 'console' };
export const CREATED = Date.UTC(2026, 0, 1);
export const LATER = Date.UTC(2026, 0, 2, 0, 0, 1, 999);
const demand = (field: string, metadata: string, flag: string) => ({
  field,
  metadata,
  isMet: true,
  option: { flag, says: '' },
  shown: { what: 'tokens', as: `with ${field}`, inFull: `only with ${field}` },
});
export const DEMANDS = [
  demand('dpopBoundAccessTokens', 'dpop_bound_access_tokens', '--dpop'),
  demand('pushesRequests', 'require_pushed_authorization_requests', '--par'),
] as unknown as readonly ClientDemand[];
export const FIELDS = [
  { name: 'uris', called: 'URI', option: { flag: '--uri <uri>', says: '' } },
  {
    name: 'trusted',
    called: 'trusted',
    shape: 'flag',
    selfRegistered: 'never',
    option: { flag: '--trusted', says: '' },
  },
] as unknown as readonly MetadataField[];
export const CHOICES = {
  demands: DEMANDS,
  fields: FIELDS,
  profiles: [{ name: 'fapi2', says: '' }],
  algorithms: ['RS256'],
} as unknown as ClientChoices;
export const KEYS = { jwks: '{"keys":[]}', jwksUri: null, algorithm: null };
export const WORKLOAD = {
  ...KEYS,
  jwks: null,
  workload: { issuer: 'https://idp.example', subject: 'a' },
};
export const client = (changes: Partial<Client> = {}) => storedClient('id', CREATED, changes);

/** A server whose method of `clients` answers with this value, or rejects with this error. */
export function answering(method: string, answer: unknown, more: object = {}) {
  const asked: unknown[] = [];
  const clients = {
    async [method](...given: unknown[]) {
      asked.push(given);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asked, server: { clients, demands: DEMANDS, ...more } };
}
