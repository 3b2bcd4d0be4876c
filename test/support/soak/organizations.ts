import { createPrivateKey, createPublicKey } from 'node:crypto';
import { newKey, signed, type ClientKey } from '../assertions.ts';
import { basic } from '../assistant.ts';
import { IDP, jagClaims, jagHeader, JWT_BEARER } from '../identity-provider.ts';
import { bearer, expectStatus, inBatches, type Path, type Steering } from './path.ts';
import type { Soaked } from './soak.ts';

/**
 * Exchanges an organization's assertion for a token. The server rejects the second use of the
 * assertion, and assertions with a foreign key, an unknown issuer or an unknown subject, and one
 * that is not a JWT.
 */
export async function organizations(
  { url, organization }: Soaked,
  { advance }: Steering,
): Promise<Path> {
  if (organization === null) throw new Error('This mount trusts no organization');
  const privateKey = createPrivateKey(organization.key);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const own: ClientKey = { algorithm: 'ES256', privateKey, kid: organization.kid, jwk };
  const foreign = { ...newKey('ES256'), kid: own.kid };
  const present = (assertion: string) =>
    fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: basic(organization) },
      body: new URLSearchParams({ grant_type: JWT_BEARER, assertion }),
    });
  const once = async (number: number) => {
    const now = Date.now() + (await advance(120));
    const claims = {
      ...jagClaims({ server: { issuer: url } }, organization, now),
      scope: 'orders:read',
    };
    const by = (key: ClientKey, changes: object = {}) =>
      signed(key, jagHeader(key), { ...claims, ...changes });
    const assertion = by(own);
    const { access_token: token } = JSON.parse(
      await expectStatus(200, present(assertion)),
    ) as Readonly<Record<'access_token', string>>;
    await expectStatus(200, fetch(`${url}/api/orders`, { headers: bearer(token) }));
    const refused = [
      assertion,
      by(foreign),
      by(own, { iss: `${IDP}/${number}`, jti: 'foreign' }),
      by(own, { sub: `unknown ${number}`, jti: 'unknown' }),
      'x'.repeat(2000),
    ];
    for (const each of refused) await expectStatus(400, present(each));
  };
  return inBatches(1, once);
}
