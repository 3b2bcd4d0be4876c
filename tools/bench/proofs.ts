import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';

/** Creates the DPoP proof for one request (RFC 9449 section 4.2). */
export type Prove = (method: string, url: string, accessToken: string | null) => string;

/** Creates a prover with a new ES256 key. */
export function newProver(): Prove {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = encode({
    typ: 'dpop+jwt',
    alg: 'ES256',
    jwk: publicKey.export({ format: 'jwk' }),
  });
  return (htm, htu, accessToken) => {
    const ath =
      accessToken === null
        ? {}
        : { ath: createHash('sha256').update(accessToken).digest('base64url') };
    const claims = encode({
      htm,
      htu,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ...ath,
    });
    const signed = `${header}.${claims}`;
    const signature = sign('sha256', Buffer.from(signed), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return `${signed}.${signature.toString('base64url')}`;
  };
}
