import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JWK } from 'jose';
import { onTestFinished } from 'vitest';
import type { AuditEvent } from '../../packages/portico/src/auditing/audit.ts';
import { KeyFiles } from '../../packages/portico/src/keys/key-files.ts';
import { KeyRing } from '../../packages/portico/src/keys/key-ring.ts';
import { buildSigningKeys, type KeySigner } from '../../packages/portico/src/keys/signers.ts';
import type { SigningAlgorithm } from '../../packages/portico/src/store/client.ts';
import { ALGORITHMS } from './algorithms.ts';

/** Signing keys without a server. Elliptic keys are created in less than a millisecond. */

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const;

/** Creating an RSA key takes a tenth of a second, so all tests share one. */
let rsa: JWK | undefined;

/** Returns the private members of a new key. RSA keys are always the same. */
export function privateJwk(algorithm: SigningAlgorithm): JWK {
  if (algorithm !== 'RS256') return PAIRS[algorithm]().privateKey.export({ format: 'jwk' });
  rsa ??= PAIRS.RS256().privateKey.export({ format: 'jwk' });
  return rsa;
}

/** A key that is not a file. It signs nothing. */
export function signerOf(
  algorithm: SigningAlgorithm,
  kid: string,
  changes: Partial<KeySigner> = {},
): KeySigner {
  const { d: _, ...all } = privateJwk(algorithm);
  return { algorithm, kid, publicJwk: all, sign: async () => new Uint8Array(), ...changes };
}

export interface TestKeysOptions {
  /** The key directory. Default: a new folder. */
  readonly directory?: string;
  readonly signers?: readonly KeySigner[];
  /** Returns whether there are authorizations that need a key. Default: there are none. */
  readonly isNeeded?: () => Promise<boolean>;
  /** Called each time the keys read the clock. */
  readonly onClock?: () => void;
}

export interface TestKeys {
  readonly ring: KeyRing;
  readonly files: KeyFiles;
  readonly directory: string;
  /** The time of the keys, in milliseconds since 1970. */
  readonly now: () => number;
  readonly advance: (seconds: number) => void;
  readonly events: AuditEvent[];
  /** What was logged as an error: the message and its values. */
  readonly logged: (readonly [message: string, context: unknown])[];
  /** Returns the names of all files in the directory, in order. */
  readonly names: () => readonly string[];
  /** Writes a file with a key of this algorithm, and returns what it contains. */
  readonly put: (name: string, algorithm: SigningAlgorithm, changes?: object) => JWK;
  /** Returns the ids of all current keys. */
  readonly kids: () => Promise<readonly string[]>;
}

/** The lifetime of ID tokens, in seconds. */
export const LIFETIME = 3600;

/** Creates a key ring with its own clock. Its directory is removed after the test. */
export function createKeys(options: TestKeysOptions = {}): TestKeys {
  const { signers = [], isNeeded = async () => false, onClock } = options;
  const directory = options.directory ?? newDirectory();
  let now = 1_700_000_000_000;
  const events: AuditEvent[] = [];
  const logged: (readonly [string, unknown])[] = [];
  const files = new KeyFiles(directory, ALGORITHMS);
  const nothing = () => {};
  const ring = new KeyRing({
    algorithms: ALGORITHMS,
    files,
    signers: buildSigningKeys(signers, ALGORITHMS),
    idTokenLifetime: LIFETIME,
    clock() {
      onClock?.();
      return now;
    },
    log: {
      debug: nothing,
      info: nothing,
      warning: nothing,
      error: (message, context) => void logged.push([message, context]),
    },
    audit: async (event) => void events.push(event),
    isNeeded,
  });
  return {
    ring,
    files,
    directory,
    now: () => now,
    advance: (seconds) => void (now += seconds * 1000),
    events,
    logged,
    names: () => readdirSync(directory).toSorted(),
    put: (name, algorithm, changes = {}) => putKey(directory, name, algorithm, changes),
    kids: async () => (await ring.all()).map(({ kid }) => kid),
  };
}

function newDirectory(): string {
  const parent = mkdtempSync(path.join(tmpdir(), 'portico-key-ring-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const directory = path.join(parent, 'keys');
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

function putKey(
  directory: string,
  name: string,
  algorithm: SigningAlgorithm,
  changes: object,
): JWK {
  // By default, the id is the name of the file without the algorithm.
  const kid = name.replace(/\..*$/, '');
  const content = { ...privateJwk(algorithm), kid, ...changes };
  writeFileSync(path.join(directory, name), JSON.stringify(content), { mode: 0o600 });
  return content;
}
