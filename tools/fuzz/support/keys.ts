import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { importJWK, type JWK } from 'jose';

/** A public key of `jose`. */
type Verifier = Awaited<ReturnType<typeof importJWK>>;

/** Keys that sign fuzzed input. Each thread creates new ones, so none is stored. */
export interface SigningKeys {
  /** The public keys by name: `ec`, `rsa`, `ed`. */
  readonly jwks: Readonly<Record<string, JsonWebKey>>;
  /**
   * Signs with the key of this name. `ps` uses the key `rsa` with PSS. Returns null if no key has
   * the name.
   */
  sign(name: string, signed: string): Buffer | null;
}

/** The algorithm of each key, by the key's name. */
const ALGORITHM_OF: Readonly<Record<string, string>> = {
  ec: 'ES256',
  rsa: 'RS256',
  ed: 'EdDSA',
};

/** Returns the public keys as members of a key set. Each name is a `kid`. */
export function publishedKeys({ jwks }: SigningKeys): readonly (JWK & { readonly kid: string })[] {
  return Object.entries(jwks).map(([kid, jwk]) => ({ ...(jwk as JWK), kid }));
}

/** Returns the public keys by name, as `jose` uses them to verify. */
export async function importVerifiers(keys: SigningKeys): Promise<ReadonlyMap<string, Verifier>> {
  const imported = publishedKeys(keys).map(
    async (jwk) => [jwk.kid, await importJWK(jwk, ALGORITHM_OF[jwk.kid])] as const,
  );
  return new Map(await Promise.all(imported));
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
 * Returns the JWS that an input describes. The lines of the input are the header as JSON, the
 * payload as JSON, and the name of the key. In these, `{ec}` and similar texts stand for the public
 * key. If the input has only one line, that line is the JWS.
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
  // The text after a bar says how to change the signature.
  const [key = '', change = ''] = name.split('|');
  const signature = keys.sign(key, signed);
  return `${signed}.${signature === null ? encoded(key) : signature.toString('base64url')}${change}`;
}
