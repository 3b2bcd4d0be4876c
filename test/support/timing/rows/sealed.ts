import { newDpopKey, tokenProof } from '../../dpop.ts';
import { openBrowser } from '../browser.ts';
import { ADA } from '../world.ts';
import { authorizationOf, signedIn } from './granting.ts';
import {
  basic,
  but,
  BYTES,
  cycle,
  newClient,
  post,
  random,
  REFRESHING,
  SAME_WAY,
  type Row,
} from './row.ts';

/** Returns base64url text with one changed byte. A negative index counts from the end. */
function butByte(text: string, index: number): string {
  const bytes = Buffer.from(text, 'base64url');
  const at = index < 0 ? bytes.length + index : index;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString('base64url');
}

/** Returns the bytes. The server compares the tag of AES-GCM, which is the last 16 bytes. */
const sealedBytes = (sealed: string) => {
  const [, period = '', text = ''] = /^(\d+\.)(.*)$/.exec(sealed) ?? [];
  return [`${period}${butByte(text, -16)}`, `${period}${butByte(text, -1)}`] as const;
};
const TAG = ['wrong in the first byte of its tag', 'wrong in the last byte of its tag'] as const;

export const SEALED: readonly Row[] = [
  {
    name: 'DPoP nonce',
    classes: TAG,
    must: ['hkdf', 'decipher aes-256-gcm'],
    ...SAME_WAY,
    async prepare(world) {
      const [client, key] = [await newClient(world), newDpopKey()];
      const proof = (nonce?: string) =>
        tokenProof(key, world.url, world.now, nonce === undefined ? {} : { nonce });
      const request = (dpop: string) =>
        post(world, '/oauth/token', REFRESHING, { ...basic(client.id, client.secret), DPoP: dpop });
      const nonce = (await world.send(request(proof()))).headers.get('dpop-nonce') ?? '';
      const pools = sealedBytes(nonce).map((each) => cycle(() => proof(each)));
      const [one = () => '', other = () => ''] = pools;
      return { requests: [() => request(one()), () => request(other())], status: 400 };
    },
  },
  {
    name: 'Sealed cookie of a request that waits',
    classes: TAG,
    must: ['hkdf', 'decipher aes-256-gcm'],
    ...SAME_WAY,
    async prepare(world) {
      const browser = openBrowser(world);
      const client = await newClient(world);
      await browser.get(authorizationOf(client));
      const [, name = '', value = ''] =
        /(portico_request_[^=]+)=([^;]+)/.exec(browser.cookies()) ?? [];
      if (value === '') throw new Error(`No cookie of a request that waits: ${browser.cookies()}`);
      const own = await signedIn(world);
      const request = (each: string) => () => {
        const id = name.slice('portico_request_'.length);
        const headers = { Cookie: `${own.cookies()}; ${name}=${each}` };
        return new Request(`${world.url}/oauth/authorize?request_id=${id}`, { headers });
      };
      const [one, other] = sealedBytes(value);
      return { requests: [request(one), request(other)], status: 400 };
    },
  },
  {
    name: 'Cookie of a known browser',
    classes: BYTES,
    must: ['timingSafeEqual 43'],
    ...SAME_WAY,
    async prepare(world) {
      const cookies = (await signedIn(world)).cookies();
      const [, entry = ''] = /portico_known=([^;]+)/.exec(cookies) ?? [];
      const start = entry.indexOf('-') + 1;
      const request = (each: string) => () =>
        post(
          world,
          '/login',
          { identifier: ADA, password: random() },
          { 'Sec-Fetch-Site': 'same-origin', Cookie: `portico_known=${each}` },
        );
      return { requests: [request(but(entry, start)), request(but(entry, -1))], status: 401 };
    },
  },
];
