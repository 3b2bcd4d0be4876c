import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { equalInConstantTime } from '../http/constant-time.ts';
import { randomToken } from '../crypto.ts';
import type { CompleteHost } from '../host/host.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { Server } from '../server.ts';

/**
 * `oauth:server:doctor` sends a question in this header, in a request for a public document. The
 * server answers in the response header with the same name. The answer shows how a request looks
 * after all proxies.
 *
 * The keys for both are derived from a signing key. So only processes that share the key directory
 * can ask a question or read the answer. Other clients get only the document, and learn nothing
 * from a recorded answer.
 */
export const ROUND_TRIP_HEADER = 'Portico-Doctor';

/** Missing headers are null. */
export interface SeenRequest {
  readonly host: string | null;
  readonly forwardedHost: string | null;
  readonly forwardedProto: string | null;
  readonly forwardedFor: string | null;
  /** The client's IP address, as the application reports it. */
  readonly address: string | null;
}

/** Valid for five minutes. */
export interface RoundTripQuestion {
  readonly header: string;
  /** Decrypts the answer. Returns null if it does not belong to this question. */
  readonly open: (answer: string) => SeenRequest | null;
}

/** How far two machines' clocks may differ, in milliseconds. */
const CLOCK_TOLERANCE = 300_000;
/** In characters. Longer values are cut, so that the answer fits into a header. */
const LONGEST_VALUE = 1000;
const QUESTION = /^(\d{1,15})\.([\w-]{43})\.([\w-]{43})\.([^.]{1,200})$/;

interface Keys {
  /** Authenticates questions. */
  readonly question: Buffer;
  /** Encrypts answers. */
  readonly answer: Buffer;
}

const derived = new WeakMap<KeyObject, Keys>();

/** Derives the keys with HKDF (RFC 5869). They reveal nothing about the signing key. */
function deriveKeys(privateKey: KeyObject): Keys {
  let keys = derived.get(privateKey);
  if (keys === undefined) {
    const secret = privateKey.export({ type: 'pkcs8', format: 'der' });
    const bytes = Buffer.from(
      hkdfSync('sha256', secret, '', 'portico: the round trip of the doctor', 64),
    );
    keys = { question: bytes.subarray(0, 32), answer: bytes.subarray(32) };
    derived.set(privateKey, keys);
  }
  return keys;
}

function authenticate({ question }: Keys, issuer: string, time: string, nonce: string): string {
  return createHmac('sha256', question)
    .update(JSON.stringify([issuer, time, nonce]))
    .digest('base64url');
}

/** A signing key in a file. The private key of a KeySigner cannot be read. */
export type SigningKeyFile = SigningKey & { readonly privateKey: KeyObject };

export function isFile(key: SigningKey): key is SigningKeyFile {
  return key.privateKey !== null;
}

/** `now` is in milliseconds since 1970. */
export function askRoundTrip(key: SigningKeyFile, issuer: string, now: number): RoundTripQuestion {
  const keys = deriveKeys(key.privateKey);
  const [time, nonce] = [String(now), randomToken()];
  return {
    header: [
      time,
      nonce,
      authenticate(keys, issuer, time, nonce),
      encodeURIComponent(key.kid),
    ].join('.'),
    open(answer) {
      const sealed = Buffer.from(answer, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', keys.answer, sealed.subarray(0, 12), {
          authTagLength: 16,
        })
          .setAAD(Buffer.from(nonce))
          .setAuthTag(sealed.subarray(12, 28));
        const text = Buffer.concat([
          decipher.update(sealed.subarray(28)),
          decipher.final(),
        ]).toString();
        return JSON.parse(text) as SeenRequest;
      } catch {
        return null;
      }
    },
  };
}

/** Returns the encrypted answer, or null if the request contains no valid question. */
export async function answerRoundTrip(
  { issuer, keys: ring, host, clock }: Server,
  request: Request,
): Promise<string | null> {
  const asked = request.headers.get(ROUND_TRIP_HEADER);
  if (asked === null) return null;
  const [, time = '', nonce = '', proof = '', kid = ''] = QUESTION.exec(asked) ?? [];
  if (Math.abs(clock() - Number(time)) > CLOCK_TOLERANCE) return null;
  // If the key directory is unreadable, ignore the question. The document needs no key.
  const known = await ring.published().catch((): readonly SigningKey[] => []);
  const key = known.filter(isFile).find((each) => encodeURIComponent(each.kid) === kid);
  if (key === undefined) return null;
  const keys = deriveKeys(key.privateKey);
  if (!equalInConstantTime(proof, authenticate(keys, issuer, time, nonce))) return null;
  return seal(keys, nonce, describeRequest(host, request));
}

function describeRequest(host: CompleteHost, request: Request): SeenRequest {
  const value = (name: string) => request.headers.get(name)?.slice(0, LONGEST_VALUE) ?? null;
  return {
    host: value('host'),
    forwardedHost: value('x-forwarded-host'),
    forwardedProto: value('x-forwarded-proto'),
    forwardedFor: value('x-forwarded-for'),
    address: host.clientAddress(request),
  };
}

function seal({ answer }: Keys, nonce: string, content: SeenRequest): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', answer, iv).setAAD(Buffer.from(nonce));
  const text = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}
