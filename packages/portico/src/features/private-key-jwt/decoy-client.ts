import { JwsError, type JsonObject, type Jws } from '../../keys/jws/compact.ts';
import {
  getAlgorithm,
  isSignedBy,
  readPublicKey,
  type PublicKey,
} from '../../keys/jws/public-keys.ts';
import type { ClientKeys } from '../../store/client.ts';
import type { KeyedClient } from '../../clients/client-assertions.ts';

/**
 * One public key of each type, from RFC 7515 (appendices A.2 and A.3) and RFC 8037 (appendix A.1).
 * Their private keys are public too, so Portico ignores the results of verifications with them.
 */
const EXAMPLES: readonly JsonObject[] = [
  {
    kty: 'RSA',
    n:
      'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690' +
      'r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyx' +
      'XFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
    e: 'AQAB',
  },
  {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  },
  { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
];

const NO_KEYS: ClientKeys = {
  jwks: JSON.stringify({ keys: EXAMPLES }),
  jwksUri: null,
  algorithm: null,
};

/**
 * Returns a stand-in for a client that does not exist or has no keys. The response then takes as
 * long as for a real client. The server never accepts a signature for the stand-in.
 */
export function decoyClient(clientId: string): KeyedClient {
  return { id: clientId, registeredBy: 'operator', keys: NO_KEYS };
}

export function isDecoyClient({ keys }: KeyedClient): boolean {
  return keys === NO_KEYS;
}

let keys: readonly PublicKey[] | null = null;

/**
 * Verifies the signature with an example key. Call it if an assertion is rejected before any
 * verification. The response then takes as long as with a real key.
 */
export function checkDecoySignature(assertion: Jws): void {
  keys ??= EXAMPLES.map(readPublicKey).filter((key) => key !== null);
  try {
    const algorithm = getAlgorithm(assertion);
    const key = keys.find(({ algorithms }) => algorithms.includes(algorithm));
    if (key !== undefined) isSignedBy(key, assertion);
  } catch (error) {
    // The server does not support the algorithm in the header.
    if (!(error instanceof JwsError)) throw error;
  }
}
