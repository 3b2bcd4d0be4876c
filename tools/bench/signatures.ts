// node bench/dist/signatures.js <RS256|ES256> [seconds] prints how many signatures one core makes
// per second. They have the size of the signature of an ID token.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, sign, type SignKeyObjectInput } from 'node:crypto';
import { CAN_PIN } from './server.ts';

export type Algorithm = 'RS256' | 'ES256';

/** Measures in a separate process, on the core that the servers use. */
export function signaturesPerSecond(algorithm: Algorithm, seconds: number): number {
  const command = [process.execPath, import.meta.filename, algorithm, String(seconds)];
  const [program = '', ...args] = CAN_PIN ? ['taskset', '-c', '0', ...command] : command;
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`No signature was made: ${stderr}`);
  return Number(stdout);
}

const KEYS: Readonly<Record<Algorithm, () => SignKeyObjectInput>> = {
  RS256: () => ({ key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }),
  ES256: () => ({
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    dsaEncoding: 'ieee-p1363',
  }),
};

function signFor(seconds: number, key: SignKeyObjectInput): number {
  const text = randomBytes(400);
  let made = 0;
  const began = performance.now();
  while (performance.now() < began + seconds * 1000) {
    for (let index = 0; index < 10; index += 1) sign('sha256', text, key);
    made += 10;
  }
  return (made / (performance.now() - began)) * 1000;
}

if (process.argv[1] === import.meta.filename) {
  const key = KEYS[process.argv[2] === 'ES256' ? 'ES256' : 'RS256']();
  signFor(0.2, key);
  process.stdout.write(String(signFor(Number(process.argv[3] ?? 2), key)));
}
