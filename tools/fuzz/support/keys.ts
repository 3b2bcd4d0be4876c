import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';

/** Keys that sign fuzzed input; new ones for each thread, so that none is stored. */
export interface SigningKeys {
  /** By name: `ec`, `rsa`, `ed`. */
  readonly jwks: Readonly<Record<string, JsonWebKey>>;
  /**
   * Signs with one of them, as its kind does; `ps` is that of `rsa` with PSS. Null for a name that
   * none has.
   */
  sign(name: string, signed: string): Buffer | null;
}

export function createKeys(): SigningKeys {
  const pairs: Readonly<Record<string, KeyObject>> = {
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ed: generateKeyPairSync('ed25519').privateKey,
  };
  const publicOf = (key: KeyObject) =>
    createPublicKey(createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' }))).export({
      format: 'jwk',
    });
  return {
    jwks: Object.fromEntries(Object.entries(pairs).map(([name, key]) => [name, publicOf(key)])),
    sign(name, signed) {
      const isPss = name === 'ps';
      const found = isPss ? 'rsa' : name;
      const key = Object.hasOwn(pairs, found) ? pairs[found] : undefined;
      if (key === undefined) return null;
      const digest = name === 'ed' ? null : 'sha256';
      const pss = {
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      };
      return sign(digest, Buffer.from(signed), {
        key,
        dsaEncoding: 'ieee-p1363',
        ...(isPss ? pss : {}),
      });
    },
  };
}

/**
 * The JWS that an input describes: its header and its payload as JSON, a line each, and the name of
 * the key that signs it. What stands in `{ec}` and the like is the public key. An input of one line
 * is the JWS itself.
 */
export function jwsOf(input: Buffer, keys: SigningKeys): string {
  const text = input.toString('utf8');
  const [header = '', payload, name = '', ...more] = text.split('\n');
  if (payload === undefined || more.length > 0) return text.trim();
  const encoded = (part: string) => Buffer.from(part, 'utf8').toString('base64url');
  const filled = header.replaceAll(/"\{(ec|rsa|ed)\}"/g, (_, key: string) =>
    JSON.stringify(keys.jwks[key]),
  );
  const signed = `${encoded(filled)}.${encoded(payload)}`;
  // After a bar: what becomes of the signature.
  const [key = '', change = ''] = name.split('|');
  const signature = keys.sign(key, signed);
  return `${signed}.${signature === null ? encoded(key) : signature.toString('base64url')}${change}`;
}
