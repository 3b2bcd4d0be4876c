import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { expect, test } from 'vitest';
import type { Server } from '../server.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import {
  answerRoundTrip,
  askRoundTrip,
  isFile,
  ROUND_TRIP_HEADER,
  type SigningKeyFile,
} from './round-trip.ts';

const ISSUER = 'https://portal.example';
const NOW = 1_800_000_000_000;
const NONCE = 'n'.repeat(43);

function keyOf(kid: string): SigningKeyFile {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey } as SigningKeyFile;
}
const key = keyOf('the kid/with signs');
/** This key is in a KeySigner, so no process has its private part. */
const elsewhere = { ...keyOf(key.kid), privateKey: null } as SigningKey;

function requestWith(
  question: string | null,
  headers: Readonly<Record<string, string>> = {},
): Request {
  return new Request(`${ISSUER}/.well-known/openid-configuration`, {
    headers: question === null ? headers : { ...headers, [ROUND_TRIP_HEADER]: question },
  });
}

/** Returns the answer of a process with these keys. */
function answered(
  request: Request,
  {
    keys = [key],
    now = NOW,
    issuer = ISSUER,
  }: { keys?: readonly SigningKey[]; now?: number; issuer?: string } = {},
): Promise<string | null> {
  const host = { clientAddress: (asked: Request) => asked.headers.get('x-real-ip') };
  const server = { issuer, keys: { published: async () => keys }, host, clock: () => now };
  return answerRoundTrip(server as unknown as Server, request);
}

/** Returns the keys of a question and of its answer. Every release must derive the same keys. */
function derived(privateKey: KeyObject): { readonly question: Buffer; readonly answer: Buffer } {
  const secret = privateKey.export({ type: 'pkcs8', format: 'der' });
  const bytes = Buffer.from(
    hkdfSync('sha256', secret, '', 'portico: the round trip of the doctor', 64),
  );
  return { question: bytes.subarray(0, 32), answer: bytes.subarray(32) };
}

/** Returns a question in the format that every release uses. */
function questionAt(time: string, { nonce = NONCE, issuer = ISSUER, by = key } = {}): string {
  const proof = createHmac('sha256', derived(by.privateKey).question)
    .update(JSON.stringify([issuer, time, nonce]))
    .digest('base64url');
  return `${time}.${nonce}.${proof}.${encodeURIComponent(by.kid)}`;
}

test('the doctor receives the headers that arrived at the server, and null for missing ones', async () => {
  const question = askRoundTrip(key, ISSUER, NOW);
  const bare = await answered(requestWith(question.header));
  expect(question.open(bare ?? '')).toEqual({
    host: null,
    forwardedHost: null,
    forwardedProto: null,
    forwardedFor: null,
    address: null,
  });
  const full = requestWith(question.header, {
    Host: 'inner.example',
    'X-Forwarded-Host': 'outer.example',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '203.0.113.7',
    'X-Real-IP': '203.0.113.8',
  });
  const answer = await answered(full);
  expect(question.open(answer ?? '')).toEqual({
    host: 'inner.example',
    forwardedHost: 'outer.example',
    forwardedProto: 'https',
    forwardedFor: '203.0.113.7',
    address: '203.0.113.8',
  });
  expect(answer).not.toBe(await answered(full));
});

test('a header is returned up to its 1000th character, so that the result fits into a header', async () => {
  const question = askRoundTrip(key, ISSUER, NOW);
  const long = 'x'.repeat(1000);
  const answer = await answered(requestWith(question.header, { 'X-Forwarded-For': `${long}y` }));
  expect(question.open(answer ?? '')?.forwardedFor).toBe(long);
});

test('a doctor and a server of different releases understand each other', async () => {
  const fresh = keyOf('fresh');
  const asked = askRoundTrip(fresh, ISSUER, NOW);
  const [time = '', nonce = ''] = asked.header.split('.');
  expect(asked.header).toBe(questionAt(String(NOW), { nonce, by: fresh }));
  expect([time, nonce.length]).toEqual([String(NOW), 43]);

  const question = questionAt(String(NOW), { by: fresh });
  const answer = Buffer.from(
    (await answered(requestWith(question), { keys: [fresh] })) ?? '',
    'base64url',
  );
  const decipher = createDecipheriv(
    'aes-256-gcm',
    derived(fresh.privateKey).answer,
    answer.subarray(0, 12),
  );
  decipher.setAAD(Buffer.from(NONCE)).setAuthTag(answer.subarray(12, 28));
  const text = Buffer.concat([decipher.update(answer.subarray(28)), decipher.final()]).toString();
  expect(Object.keys(JSON.parse(text) as object)).toContain('forwardedFor');

  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derived(fresh.privateKey).answer, iv).setAAD(
    Buffer.from(nonce),
  );
  const content = Buffer.concat([cipher.update('{"host":"h"}'), cipher.final()]);
  const theirs = Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64url');
  expect(asked.open(theirs)).toEqual({ host: 'h' });
});

test('a result can be read only unchanged, and only by the doctor that sent the request', async () => {
  const [one, other] = [askRoundTrip(key, ISSUER, NOW), askRoundTrip(key, ISSUER, NOW)];
  expect(one.header).not.toBe(other.header);
  const answer = (await answered(requestWith(one.header))) ?? '';
  expect(one.open(answer)).not.toBeNull();
  expect(other.open(answer)).toBeNull();
  const bytes = Buffer.from(answer, 'base64url');
  for (const changed of ['', 'AAAA', answer.slice(0, 36), answer.slice(0, -4)])
    expect(one.open(changed)).toBeNull();
  for (const place of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(one.open(changed.toString('base64url'))).toBeNull();
  }
});

test('a doctor request is answered up to five minutes before and after its time', async () => {
  const request = requestWith(questionAt(String(NOW)));
  for (const off of [-300_000, 0, 300_000])
    expect(await answered(request, { now: NOW + off })).not.toBeNull();
  for (const off of [-300_001, 300_001])
    expect(await answered(request, { now: NOW + off })).toBeNull();
});

test('a doctor request without the right key, or for a different issuer, is not answered', async () => {
  const proof = questionAt(String(NOW)).split('.')[2] ?? '';
  const stranger = keyOf(key.kid);
  for (const question of [
    null,
    '',
    'x',
    questionAt(String(NOW), { by: stranger }),
    questionAt(String(NOW), { issuer: 'https://other.example' }),
    `${NOW + 1}.${NONCE}.${proof}.${encodeURIComponent(key.kid)}`,
    `${NOW}.${'m'.repeat(43)}.${proof}.${encodeURIComponent(key.kid)}`,
    `${NOW}.${NONCE}.${'p'.repeat(43)}.${encodeURIComponent(key.kid)}`,
    `${NOW}.${NONCE}.${proof}.another`,
    `${NOW}.${NONCE}.${proof}.`,
    `x${questionAt(String(NOW))}`,
    `${questionAt(String(NOW))}.x`,
  ]) {
    expect([question, await answered(requestWith(question))]).toEqual([question, null]);
  }
  expect(await answered(requestWith(questionAt(String(NOW))))).not.toBeNull();
});

test('an invalid doctor request is not answered, even if the clock is at zero', async () => {
  expect(await answered(requestWith('x'), { now: 0, keys: [keyOf('')] })).toBeNull();
});

test('a doctor request is answered with the key that it names, but not with that of a KeySigner', async () => {
  const request = requestWith(questionAt(String(NOW)));
  expect(await answered(request, { keys: [keyOf('another'), elsewhere, key] })).not.toBeNull();
  expect(await answered(request, { keys: [keyOf('another'), elsewhere] })).toBeNull();
  expect(await answered(request, { keys: [] })).toBeNull();
  expect([isFile(key), isFile(elsewhere)]).toEqual([true, false]);
});

test('unreadable keys fail no request', async () => {
  const keys = { published: () => Promise.reject(new Error('gone')) };
  const options = { issuer: ISSUER, keys, host: { clientAddress: () => null }, clock: () => NOW };
  for (const by of [key, keyOf('undefined')])
    expect(
      await answerRoundTrip(
        options as unknown as Server,
        requestWith(questionAt(String(NOW), { by })),
      ),
    ).toBeNull();
});

test('a request that is not from the doctor reads no keys', async () => {
  let read = 0;
  const keys = { published: async () => ((read += 1), [key]) };
  const options = { issuer: ISSUER, keys, host: { clientAddress: () => null }, clock: () => NOW };
  expect(await answerRoundTrip(options as unknown as Server, requestWith(null))).toBeNull();
  expect(read).toBe(0);
  expect(
    await answerRoundTrip(options as unknown as Server, requestWith(questionAt(String(NOW)))),
  ).not.toBeNull();
  expect(read).toBe(1);
});
