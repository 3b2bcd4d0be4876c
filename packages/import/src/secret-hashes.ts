import { RegistrationError, type PasswordHasher } from 'portico';
import { randomToken } from 'portico/extension';
import { isOfNothing, isWrapped, wrapHash, type ForeignHash } from './imported-secrets.ts';

/** The secret of an imported client, from its record or newly created. */
export interface ImportedSecret {
  /** Computes the hash to store. This takes a long time. */
  readonly hash: () => Promise<string>;
  readonly isKept: (kept: string) => Promise<boolean>;
  /** Whether this is the hash of an empty secret, which anyone can guess. */
  readonly isOfNothing: () => Promise<boolean>;
}

/** The minimum length of a secret, in characters. An attacker could guess a shorter one. */
const SHORTEST = 16;
/**
 * Match strings that look like a hash. The import rejects such a string as a plain-text secret,
 * because anyone who has read the hash could authenticate with it.
 */
const LIKE_A_HASH: readonly RegExp[] = [
  /^\$(?:2[abxy]?|argon2|scrypt|pbkdf2)[\w-]*\$/,
  // Django writes the first four, and the database of another Portico has the last one.
  /^(?:pbkdf2|bcrypt|argon2|scrypt|imported)\w*\$/,
  // Spring Security writes these.
  /^\{(?:pbkdf2|bcrypt|argon2|scrypt|sha256|SHA|MD4|MD5|ldap)[\w@-]*\}/,
  /^sha256:/,
];
const SECRET = /^[\x20-\x7E]{0,1024}$/;

/**
 * Reads a plain-text secret. Throws a RegistrationError if the secret is not allowed. The message
 * does not contain the secret.
 */
export function plainSecret(secret: string, hasher: PasswordHasher): ImportedSecret {
  if (!SECRET.test(secret)) {
    throw new RegistrationError('client_secret must have at most 1024 printable ASCII characters');
  }
  if (LIKE_A_HASH.some((form) => form.test(secret))) {
    throw new RegistrationError('client_secret looks like a hash; move it to client_secret_hash');
  }
  if (secret.length < SHORTEST) {
    throw new RegistrationError(
      `client_secret must have at least ${SHORTEST} characters; remove it and use --new-secrets`,
    );
  }
  if (secret.trim() === '')
    throw new RegistrationError('client_secret is blank; set a secret, or remove the field');
  return {
    hash: () => hasher.hash(secret),
    isKept: (kept) => hasher.verify(secret, kept),
    isOfNothing: async () => false,
  };
}

export interface HashReader {
  (text: string): ImportedSecret;
}

/**
 * Creates a function that reads a hash from a record. A hash in the host's own format is stored
 * unchanged.
 */
export async function createHashReader(
  hasher: PasswordHasher,
  iterations: number,
): Promise<HashReader> {
  const own = getShape(await hasher.hash(randomToken()));
  return (text) => {
    if (own !== null && getShape(text) === own) {
      return {
        hash: async () => text,
        isKept: async (kept) => kept === text,
        isOfNothing: () => hasher.verify('', text),
      };
    }
    const foreign = readForeign(text, iterations, own);
    return {
      hash: () => wrapHash(foreign, hasher),
      isKept: (kept) => isWrapped(foreign, kept, hasher),
      isOfNothing: () => isOfNothing(foreign),
    };
  };
}

const SHA256 = /^sha256:(?:([0-9a-f]{64})|([\w-]{43}|[A-Za-z0-9+/]{43}=))$/;
const DJANGO = /^pbkdf2_sha256\$([1-9]\d{0,7})\$([^$]{1,128})\$([A-Za-z0-9+/]{43}=)$/;

function readForeign(text: string, iterations: number, own: string | null): ForeignHash {
  const [, hexadecimal, base64 = ''] = SHA256.exec(text) ?? [];
  if (hexadecimal !== undefined) return { kind: 'sha256', digest: hexadecimal };
  if (base64 !== '')
    return { kind: 'sha256', digest: Buffer.from(base64, 'base64').toString('hex') };
  const [, count, salt = '', derived = ''] = DJANGO.exec(text) ?? [];
  if (count === undefined) {
    throw new RegistrationError(
      'client_secret_hash has an unknown format. Use sha256:… or ' +
        `pbkdf2_sha256$…${ownShape(own)}. Or remove the field and use --new-secrets`,
    );
  }
  if (Number(count) > iterations) {
    throw new RegistrationError(
      `client_secret_hash needs ${count} PBKDF2 iterations, but the maximum is ${iterations}; ` +
        `first set oauth_server:imported_pbkdf2_iterations to at least ${count}`,
    );
  }
  const digest = Buffer.from(derived, 'base64').toString('hex');
  return {
    kind: 'pbkdf2_sha256',
    digest,
    iterations: Number(count),
    salt: Buffer.from(salt, 'utf8'),
  };
}

function ownShape(own: string | null): string {
  return own === null
    ? ''
    : `, or a hash of the host's password hasher (${own.replace(/\$[^$]*$/, '$')}…)`;
}

/**
 * Returns the shape of a hash: its format, its cost, and the lengths of its salt and its value. All
 * hashes that a hasher creates with the same cost have the same shape. Reads the PHC string format
 * and bcrypt (`$2b$12$…`). Returns null for other formats.
 */
export function getShape(hash: string): string | null {
  if (/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash)) return `${hash.slice(0, 7)}53`;
  const parts = hash.split('$');
  if (parts[0] !== '' || parts.length < 5 || !/^[\x21-\x7E]{1,512}$/.test(hash)) return null;
  const values = parts.slice(-2);
  if (values.some((value) => !/^[A-Za-z0-9+/.]{11,}$/.test(value))) return null;
  return [...parts.slice(0, -2), values.map(({ length }) => length).join('-')].join('$');
}
