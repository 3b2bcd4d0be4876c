import type { Database } from '@portico/sql';
import { orderedIdentifier } from '../../packages/portico/src/crypto.ts';
import type { Family } from '../../packages/portico/src/store/grant.ts';
import { newAccessToken, parseToken } from '../../packages/portico/src/tokens/token-formats.ts';
import { Store } from './store.ts';
import { storedClient } from './stored-client.ts';

const HOUR = 3_600_000;

/** Stores an authorization that the person gave a new client, and returns its access token. */
export async function storeToken(
  database: Database,
  person: Family['person'],
  scopes: readonly string[],
): Promise<string> {
  const store = new Store(database, () => true);
  const now = Date.now();
  const clientId = `client of ${orderedIdentifier(now)}`;
  await store.clients.insertClient(storedClient(clientId, now, { scopes }));
  const id = orderedIdentifier(now);
  const granted = { person, scopes, audience: null };
  const request = {
    idHash: `request of ${id}`,
    browserHash: 'browser',
    clientId,
    redirectUri: 'https://client.example/cb',
    scopes,
    state: null,
    nonce: null,
    codeChallenge: 'challenge',
    audience: null,
    thumbprint: null,
    asked: granted,
    outcome: null,
    expiresAt: now + HOUR,
  };
  await store.consentRequests.insertConsentRequest(request);
  const family = { ...granted, id, clientId, subject: `subject of ${id}`, thumbprint: null };
  const code = {
    hash: `code of ${id}`,
    expiresAt: now + HOUR,
    parameters: { redirectUri: '', codeChallenge: '', nonce: null },
  };
  await store.consentRequests.answerConsent(request, { family, code }, { allow: true, at: now });
  const found = await store.codes.findCode({ id, hash: code.hash });
  if (found === null) throw new Error('The code was not stored');
  const { value } = newAccessToken(now);
  const accessToken = { ...parseToken(value), scopes, expiresAt: now + HOUR, thumbprint: null };
  await store.codes.spendCode(found, { accessToken, refreshToken: null }, now);
  return value;
}
