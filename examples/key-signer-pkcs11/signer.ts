import { spawn } from 'node:child_process';
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type { KeySigner } from 'portico';

/** A key in a PKCS#11 module, such as SoftHSM or a hardware module. */
export interface Pkcs11Key {
  /** The path of the module's shared library. */
  readonly module: string;
  /** The label of the PKCS#11 token that contains the key. */
  readonly token: string;
  /** The id of the key in the token, in hexadecimal. */
  readonly id: string;
  /**
   * The name of the environment variable that contains the user's PIN. Because it is a variable,
   * the PIN does not appear in a list of processes.
   */
  readonly pinVariable: string;
  /** The `kid` of the key in the key set and in ID tokens. */
  readonly kid: string;
  readonly algorithm: 'RS256' | 'ES256';
  /** The time from which the key signs, in milliseconds since 1970. */
  readonly signsFrom?: number;
}

/**
 * Creates a signer for a key, and reads the public key once. The private key never leaves the
 * module: each signature runs OpenSC's `pkcs11-tool`.
 */
export async function pkcs11Signer(key: Pkcs11Key): Promise<KeySigner> {
  const { kid, algorithm, signsFrom } = key;
  const publicKey = await readPublicKey(key);
  return {
    kid,
    algorithm,
    publicJwk: publicKey.export({ format: 'jwk' }),
    ...(signsFrom === undefined ? {} : { signsFrom }),
    sign: (data, { signal }) =>
      algorithm === 'RS256'
        ? run(key, ['--sign', '--mechanism', 'SHA256-RSA-PKCS'], data, signal)
        : run(
            key,
            ['--sign', '--mechanism', 'ECDSA', '--signature-format', 'rs'],
            sha256(data),
            signal,
          ),
  };
}

async function readPublicKey(key: Pkcs11Key): Promise<KeyObject> {
  const der = await run(key, ['--read-object', '--type', 'pubkey']);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function sha256(data: Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest();
}

/**
 * Runs `pkcs11-tool` and returns its standard output. If it fails, rejects with only its exit code.
 */
function run(
  { module, token, id, pinVariable }: Pkcs11Key,
  what: readonly string[],
  input: Uint8Array = new Uint8Array(),
  signal?: AbortSignal,
): Promise<Buffer> {
  const where = ['--module', module, '--token-label', token, '--id', id];
  const login = ['--login', '--pin', `env:${pinVariable}`];
  return new Promise((resolve, reject) => {
    const child = spawn('pkcs11-tool', [...where, ...login, ...what], {
      stdio: ['pipe', 'pipe', 'ignore'],
      ...(signal === undefined ? {} : { signal }),
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output));
      else reject(new Error(`pkcs11-tool ended with ${code}`));
    });
    // Ignore this error. The tool may end before it has read all of its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
