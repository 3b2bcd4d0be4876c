import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * A possible mistake. It is planted into the built files while they are loaded, and `dist` stays
 * unchanged.
 */
export interface Fault {
  readonly name: string;
  /** Pairs of a text and its replacement. The text appears exactly once in the built files. */
  readonly edits: readonly (readonly [text: string, replacement: string])[];
  /**
   * The row that finds the mistake. It is the beginning of the row's name and of its first class.
   */
  readonly row: string;
  readonly classes?: string;
  /**
   * Whether the measured time also shows the mistake, in addition to the count. It is `at length`
   * if only the long form measures it: the run takes too long for the short form, or another
   * mistake of the same kind is enough there.
   */
  readonly inTime: 'no' | 'yes' | 'at length';
  /** Whether the mistake leaves out the slow hash. Then the slow hash is measured. */
  readonly isHash?: boolean;
  /** Whether the count shows the mistake. Default: true. */
  readonly inCount?: boolean;
}

const VERIFY =
  'const verifying = this.#inFlight.get(proof) ?? this.#verifySlowly(client, hashes, secret);';
const WAIT = 'this.#inFlight.get(this.#proofOf(clientId, hashes.join(), secret))';
const DECOY = 'this.#decoy ??= await this.#hasher.hash(randomToken());';
const COMPARE = 'return left.length === right.length && timingSafeEqual(left, right);';

/**
 * Returns code that takes this many nanoseconds for each correct byte, up to the first wrong byte.
 */
const byteByByte = (nanoseconds: number) => `
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const until = process.hrtime.bigint() + BigInt(same * ${nanoseconds});
  while (process.hrtime.bigint() < until);
  ${COMPARE}`;

export const FAULTS: readonly Fault[] = [
  {
    name: 'secrets are compared by ===',
    edits: [[COMPARE, 'return one === other;']],
    row: 'CSRF token, the kit',
    inTime: 'no',
  },
  {
    name: 'a comparison returns immediately if the first byte is wrong',
    edits: [[COMPARE, `if (left[0] !== right[0]) return false; ${COMPARE}`]],
    row: 'CSRF token, the kit',
    inTime: 'at length',
  },
  {
    name: 'a comparison byte by byte, two microseconds for each',
    edits: [[COMPARE, byteByByte(2000)]],
    row: 'CSRF token, the kit',
    inTime: 'yes',
    inCount: false,
  },
  {
    name: 'a comparison byte by byte, 25 ns for each: a microsecond in all',
    edits: [[COMPARE, byteByByte(25)]],
    row: 'CSRF token, the kit',
    inTime: 'at length',
    inCount: false,
  },
  {
    name: 'an unknown client returns before the hash',
    edits: [[VERIFY, `if (client === null) return false; ${VERIFY}`]],
    row: 'Client, Basic',
    inTime: 'yes',
    isHash: true,
  },
  {
    name: 'an unknown client returns before the store is asked',
    edits: [
      [
        'const client = await store.clients.findClient(clientId);',
        'const client = globalThis.idsOfClients?.has(clientId) ? await store.clients.findClient(clientId) : null;',
      ],
      [
        'secretHash: secret === null ? null : await host.passwordHasher.hash(secret),\n\t\t\tcreatedAt: clock()\n\t\t});\n\t\tconst logoHash',
        'secretHash: secret === null ? null : await host.passwordHasher.hash(secret),\n\t\t\tcreatedAt: clock()\n\t\t});\n\t\t(globalThis.idsOfClients ??= new Set()).add(client.id);\n\t\tconst logoHash',
      ],
    ],
    row: 'Client, Basic',
    inTime: 'at length',
  },
  {
    name: 'an unknown client costs one hash while another has two secrets',
    edits: [
      [
        'const owed = (this.#overlapUntil > this.#clock() ? 2 : 1) - hashes.length;',
        'const owed = 1 - hashes.length;',
      ],
    ],
    row: 'Client in the overlap',
    inTime: 'at length',
    isHash: true,
  },
  {
    name: 'only an unknown client computes the decoy hash',
    edits: [[DECOY, `if (hashes.length === 0) ${DECOY}`]],
    row: 'Client, Basic',
    inTime: 'no',
  },
  {
    name: 'of two simultaneous requests of an unknown client, the second does not wait',
    edits: [[WAIT, `(client === null ? undefined : ${WAIT})`]],
    row: 'Client, Basic',
    inTime: 'no',
  },
  {
    name: 'no signature is checked for an unknown client',
    edits: [
      [
        'await way?.verify(keyed, clientId, assertion, profile);',
        'if (keyed !== null) await way?.verify(keyed, clientId, assertion, profile);',
      ],
    ],
    row: 'private_key_jwt, ES256',
    inTime: 'yes',
  },
  {
    name: 'no signature is checked if no key fits',
    edits: [['if (!isChecked) checkDecoySignature(assertion);', '']],
    row: 'private_key_jwt, ES256',
    classes: 'a client of RS256',
    inTime: 'at length',
  },
  {
    name: 'PBKDF2 is left out for a client without such a hash',
    edits: [
      [
        'const derived = iterations === 0 ? null :',
        'const derived = iterations === 0 || own === null ? null :',
      ],
    ],
    row: 'Imported secret, PBKDF2',
    inTime: 'at length',
  },
  {
    name: 'an unknown client returns before its registration is read',
    edits: [
      [
        'const hash = await this.#server.store.registrations.findRegistrationHash(client?.id ?? NO_CLIENT);',
        'const hash = client === null ? null : await this.#server.store.registrations.findRegistrationHash(client.id);',
      ],
    ],
    row: 'Registration access token',
    classes: 'a wrong one of a client',
    inTime: 'no',
  },
  {
    name: 'an unknown account returns before the hash',
    edits: [
      [
        'this.#decoy ??= await this.#passwordHasher.hash(randomUUID());',
        'if (row === null) return null; this.#decoy ??= await this.#passwordHasher.hash(randomUUID());',
      ],
    ],
    row: 'Sign-in, account',
    inTime: 'at length',
    isHash: true,
  },
  {
    name: 'a suspended account returns before the hash',
    edits: [
      [
        'this.#decoy ??= await this.#passwordHasher.hash(randomUUID());',
        'if (row?.active === 0) return null; this.#decoy ??= await this.#passwordHasher.hash(randomUUID());',
      ],
    ],
    row: 'Sign-in, suspended',
    inTime: 'at length',
    isHash: true,
  },
];

/**
 * Plants the edits in modules that are loaded later. Returns a function that tells how many edits
 * were made. If a text is missing, the edit is not made.
 */
export function plant({ edits }: Pick<Fault, 'edits'>): () => number {
  const packages = fileURLToPath(new URL('../../../packages/', import.meta.url));
  const isBuilt = (file: string) => file.startsWith(packages) && /[\\/]dist[\\/]/.test(file);
  const made = new Set<string>();
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith('file:') || !isBuilt(fileURLToPath(url))) return loaded;
      let source = Buffer.from((loaded.source ?? '') as Uint8Array).toString();
      for (const [text, replacement] of edits) {
        if (!source.includes(text)) continue;
        source = source.replace(text, () => replacement);
        made.add(text);
      }
      return { ...loaded, source };
    },
  });
  return () => made.size;
}
