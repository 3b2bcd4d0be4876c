import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { equalInConstantTime } from '../http/constant-time.ts';
import { randomToken } from './crypto.ts';
import type { Host } from './host.ts';
import type { KeyRing, SigningKey } from './keys.ts';

/**
 * How the doctor learns what a running process sees of a request that came through whatever stands before it. It sends a
 * question along with a request for a public document; the answer comes back in a header of the same name, sealed. Both
 * are made with a key derived from a signing key, which only processes that share the key directory have: to everybody
 * else the document is what it always is, and an answer that somebody replays or keeps tells nothing.
 */
export const ROUND_TRIP_HEADER = 'Portico-Doctor';

/** What the process that answers was given. Header values are as they arrived; null for one that did not. */
export interface SeenRequest {
  readonly host: string | null;
  readonly forwardedHost: string | null;
  readonly forwardedProto: string | null;
  readonly forwardedFor: string | null;
  /** Where the application says that the request comes from. */
  readonly address: string | null;
}

/** A question that is good for five minutes, and the way to open its answer. */
export interface RoundTripQuestion {
  readonly header: string;
  /** What the answer says; null for one that does not belong to the question. */
  readonly open: (answer: string) => SeenRequest | null;
}

/** In milliseconds; the clocks of two machines may differ. */
const QUESTION_HOLDS = 300_000;
/** Longer header values are cut, so that the answer stays a header. */
const LONGEST_VALUE = 1000;
const QUESTION = /^(\d{1,15})\.([\w-]{43})\.([\w-]{43})\.([^.]{1,200})$/;

interface Keys {
  readonly asking: Buffer;
  readonly sealing: Buffer;
}

const derived = new WeakMap<KeyObject, Keys>();

/** Independent of what the key signs (RFC 5869). */
function keysOf({ privateKey }: SigningKey): Keys {
  let keys = derived.get(privateKey);
  if (keys === undefined) {
    const secret = privateKey.export({ type: 'pkcs8', format: 'der' });
    const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'portico: the round trip of the doctor', 64));
    keys = { asking: bytes.subarray(0, 32), sealing: bytes.subarray(32) };
    derived.set(privateKey, keys);
  }
  return keys;
}

function proofOf({ asking }: Keys, issuer: string, time: string, nonce: string): string {
  return createHmac('sha256', asking)
    .update(JSON.stringify([issuer, time, nonce]))
    .digest('base64url');
}

/** Asks a server of this issuer that has the key. `now` is milliseconds since 1970. */
export function askRoundTrip(key: SigningKey, issuer: string, now: number): RoundTripQuestion {
  const keys = keysOf(key);
  const [time, nonce] = [String(now), randomToken()];
  return {
    header: [time, nonce, proofOf(keys, issuer, time, nonce), encodeURIComponent(key.kid)].join('.'),
    open(answer) {
      const sealed = Buffer.from(answer, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', keys.sealing, sealed.subarray(0, 12), {
          authTagLength: 16,
        })
          .setAAD(Buffer.from(nonce))
          .setAuthTag(sealed.subarray(12, 28));
        const text = Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString();
        return JSON.parse(text) as SeenRequest;
      } catch {
        return null;
      }
    },
  };
}

/** What a process answers with. */
export interface RoundTripOptions {
  readonly issuer: string;
  readonly keys: Pick<KeyRing, 'published'>;
  readonly host: Pick<Host, 'clientAddress'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** The sealed answer to a request that carries a question of ours; null for every other request. */
export async function answerRoundTrip(
  { issuer, keys: ring, host, clock }: RoundTripOptions,
  request: Request,
): Promise<string | null> {
  const asked = request.headers.get(ROUND_TRIP_HEADER);
  if (asked === null) return null;
  const [, time = '', nonce = '', proof = '', kid = ''] = QUESTION.exec(asked) ?? [];
  if (Math.abs(clock() - Number(time)) > QUESTION_HOLDS) return null;
  // A key directory that cannot be read must not show here what it does not show to those who ask nothing.
  const known = await ring.published().catch((): readonly SigningKey[] => []);
  const key = known.find((each) => encodeURIComponent(each.kid) === kid);
  if (key === undefined) return null;
  const keys = keysOf(key);
  if (!equalInConstantTime(proof, proofOf(keys, issuer, time, nonce))) return null;
  return seal(keys, nonce, seen(host, request));
}

function seen(host: Pick<Host, 'clientAddress'>, request: Request): SeenRequest {
  const value = (name: string) => request.headers.get(name)?.slice(0, LONGEST_VALUE) ?? null;
  return {
    host: value('host'),
    forwardedHost: value('x-forwarded-host'),
    forwardedProto: value('x-forwarded-proto'),
    forwardedFor: value('x-forwarded-for'),
    address: host.clientAddress(request),
  };
}

function seal({ sealing }: Keys, nonce: string, content: SeenRequest): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealing, iv).setAAD(Buffer.from(nonce));
  const text = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
}
