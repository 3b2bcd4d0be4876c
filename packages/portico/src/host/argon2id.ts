import crypto, { randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { PasswordHasher } from './password-hasher.ts';
import { currentCaller } from '../http/caller.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * How much each hash costs (RFC 9106 section 3.1), and how many hashes are computed at the same
 * time.
 */
export interface Argon2idOptions {
  /** The memory that one hash uses, in KiB. Defaults to 47104 (46 MiB). */
  readonly memory?: number;
  /** The number of passes over the memory. Defaults to 1. */
  readonly passes?: number;
  /** The number of memory lanes. Defaults to 1. */
  readonly parallelism?: number;
  /**
   * How many hashes are computed at the same time. Defaults to 2. Each hash uses one thread of
   * Node's pool. File access, DNS and signatures need these threads too.
   */
  readonly atOnce?: number;
}

interface Argon2idHash extends Required<Omit<Argon2idOptions, 'atOnce'>> {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

const HASH =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;
/** Accepted in a stored hash: 1 GiB of memory, 16 passes, 16 lanes. */
const LIMITS = { memory: 1_048_576, passes: 16, parallelism: 16 } as const;

/**
 * Returns a password hasher that uses argon2id and PHC strings. The default parameters are OWASP's:
 * 46 MiB, one pass, one lane.
 *
 * Use at least 32 MiB. Node frees only larger blocks immediately and keeps smaller ones, one for
 * each thread in its pool (decision 13).
 *
 * Networks take turns, so many hashes for one network delay only that network. `network` returns
 * the current network. `runAsCaller` overrides it. If 100 hashes of one network or 200 in total
 * wait, one is rejected with an OverloadedError: the new one, or a waiting one of the network with
 * the most.
 *
 * @example
 * const host = { ...accounts, passwordHasher: argon2idHasher({ memory: 65_536 }) };
 */
export function createArgon2id(
  options: Argon2idOptions = {},
  network: () => string | null = () => null,
): PasswordHasher {
  const { memory = 47_104, passes = 1, parallelism = 1, atOnce = 2 } = options;
  const queue = new FairQueue({ atOnce, ...WAITING });
  const inTurn = <T>(work: () => Promise<T>) => queue.run(currentCaller() ?? network(), work);
  return {
    async hash(password) {
      const salt = randomBytes(16);
      const tag = await inTurn(() =>
        computeTag(password, { memory, passes, parallelism, salt }, 32),
      );
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
    },
    async verify(password, hash) {
      const parsed = parse(hash);
      if (parsed === null) return false;
      const tag = await inTurn(() => computeTag(password, parsed, parsed.tag.length));
      return timingSafeEqual(tag, parsed.tag);
    },
  };
}

/**
 * How many hashes may wait. Computing this many takes a few seconds. Above a limit, hashes are
 * rejected (see `FairQueue`).
 */
const WAITING = { mostWaiting: 200, mostOfOne: 100 } as const;

/**
 * Some Node versions do not export `argon2`. This file must load there too, so it does not import
 * `argon2` by name.
 */
async function computeTag(
  password: string,
  hash: Omit<Argon2idHash, 'tag'>,
  tagLength: number,
): Promise<Buffer> {
  const { memory, passes, parallelism, salt: nonce } = hash;
  const argon2 = crypto.argon2 as typeof crypto.argon2 | undefined;
  if (argon2 === undefined) throw new Error(WITHOUT_ARGON2);
  return promisify(argon2)('argon2id', {
    message: password,
    nonce,
    memory,
    passes,
    parallelism,
    tagLength,
  });
}

const WITHOUT_ARGON2 =
  'This runtime does not have crypto.argon2, which Node.js added in version 24.7. Pass your ' +
  'own passwordHasher to the host, such as bcrypt or scrypt';

function parse(hash: string): Argon2idHash | null {
  const match = HASH.exec(hash);
  if (match === null) return null;
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number);
  const [salt = '', tag = ''] = match.slice(4);
  const inBounds =
    passes >= 1 &&
    parallelism >= 1 &&
    memory >= 8 * parallelism &&
    memory <= LIMITS.memory &&
    passes <= LIMITS.passes &&
    parallelism <= LIMITS.parallelism;
  if (!inBounds) return null;
  return {
    memory,
    passes,
    parallelism,
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
