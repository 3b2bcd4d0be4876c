// @engines sqlite: the database makes no difference
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../../../../test/support/assertions.ts';
import { startDocumentHost } from '../../../../../test/support/document-host.ts';
import { readKeySet } from '../../clients/key-sets.ts';
import { issuerKeysAt } from './issuer-keys.ts';

/** Creates an issuer whose keys are in a file. `parsed` counts how often its key set was parsed. */
async function startIssuer() {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-issuer-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'keys.json');
  let parsed = 0;
  const keys = issuerKeysAt(
    { file },
    { clock: Date.now, allowsLoopback: false, anyPort: false },
    (value) => {
      parsed += 1;
      return readKeySet(value);
    },
  );
  return {
    file,
    parsed: () => parsed,
    publish: (kids: readonly string[]) =>
      writeFile(
        file,
        JSON.stringify({ keys: kids.map((kid) => ({ ...newKey('ES256').jwk, kid })) }),
      ),
    has: (kid: string) => keys.haveOne((known) => known.some((key) => key.kid === kid)),
  };
}

// @shows AS-49.7
test('a key set in a file is parsed once, until the file changes', async () => {
  const issuer = await startIssuer();
  await issuer.publish(['a']);
  for (let forged = 0; forged < 5; forged += 1) expect(await issuer.has('unknown')).toBe(false);
  expect(issuer.parsed()).toBe(1);
  await issuer.publish(['a', 'b']);
  expect(await issuer.has('b')).toBe(true);
  expect(issuer.parsed()).toBe(2);
});

// @shows AS-49.7, AS-54.5
test('a key removed from the file is refused at once, even if size and time of the file are the same', async () => {
  const issuer = await startIssuer();
  await issuer.publish(['a']);
  const before = await stat(issuer.file);
  await utimes(issuer.file, 1_800_000_000, 1_800_000_000);
  expect(await issuer.has('a')).toBe(true);
  await issuer.publish(['b']);
  await utimes(issuer.file, 1_800_000_000, 1_800_000_000);
  expect((await stat(issuer.file)).size).toBe(before.size);
  expect([await issuer.has('a'), await issuer.has('b')]).toEqual([false, true]);
});

// @shows AS-49.7
test.each(['', '{', '{}', '[]', '{"keys":{}}'])(
  'earlier keys are not used if the file becomes %j',
  async (text) => {
    const issuer = await startIssuer();
    await issuer.publish(['a']);
    expect(await issuer.has('a')).toBe(true);
    await writeFile(issuer.file, text);
    await expect(issuer.has('a')).rejects.toThrow('cannot be read now');
    await rm(issuer.file);
    await expect(issuer.has('a')).rejects.toThrow('cannot be read now');
    await issuer.publish(['a']);
    expect(await issuer.has('a')).toBe(true);
  },
);

// @shows AS-49.7
test('with a lifetime of zero, keys are not taken from a fetch that began before the request', async () => {
  const host = await startDocumentHost();
  onTestFinished(() => host.close());
  const { jwk } = newKey('ES256');
  const keys = issuerKeysAt(
    { url: host.publish('/keys', { keys: [jwk] }), lifetime: 0 },
    { ...host.outbound, clock: Date.now, allowsLoopback: true, anyPort: true },
    readKeySet,
  );
  const isThere = () => keys.haveOne((known) => known.some(({ kid }) => kid === jwk['kid']));
  expect(await isThere()).toBe(true);
  const waiting: (() => void)[] = [];
  const before = JSON.stringify({ keys: [jwk] });
  host.answer('/keys', (_, response) => {
    const type = { 'Content-Type': 'application/json' };
    waiting.push(() => response.writeHead(200, type).end(before));
  });
  const early = isThere();
  await expect.poll(() => waiting).toHaveLength(1);
  host.publish('/keys', { keys: [] });
  const late = [isThere(), isThere()];
  waiting[0]?.();
  expect([await early, ...(await Promise.all(late))]).toEqual([true, false, false]);
  expect(host.asked).toHaveLength(3);
});

// @shows AS-49.7
test('with a lifetime below 15 seconds, known keys work, and unknown ones cause no earlier fetch', async () => {
  const host = await startDocumentHost();
  onTestFinished(() => host.close());
  const { jwk } = newKey('ES256');
  let now = 0;
  const keys = issuerKeysAt(
    { url: host.publish('/keys', { keys: [jwk] }), lifetime: 5 },
    { ...host.outbound, clock: () => now, allowsLoopback: true, anyPort: true },
    readKeySet,
  );
  const has = (kid: unknown) => keys.haveOne((known) => known.some((key) => key.kid === kid));
  expect(await has(jwk['kid'])).toBe(true);
  now = 6000;
  expect([await has('unknown'), await has('other')]).toEqual([false, false]);
  expect(host.asked).toHaveLength(1);
  expect(await has(jwk['kid'])).toBe(true);
  expect(host.asked).toHaveLength(2);
  host.publish('/keys', { keys: [] });
  now = 12_000;
  expect(await has(jwk['kid'])).toBe(false);
  expect(await has(jwk['kid'])).toBe(false);
  expect(host.asked).toHaveLength(3);
});

// @shows AS-49.7
test('a file has at most 64 KiB, and is closed after it was read', async () => {
  const issuer = await startIssuer();
  const descriptor = () => {
    const opened = openSync(issuer.file, 'r');
    closeSync(opened);
    return opened;
  };
  await issuer.publish(['a']);
  const text = await readFile(issuer.file, 'utf8');
  await writeFile(issuer.file, text.padEnd(64 * 1024));
  const before = descriptor();
  for (let count = 0; count < 20; count += 1) expect(await issuer.has('a')).toBe(true);
  expect(descriptor()).toBeLessThan(before + 20);
  await writeFile(issuer.file, text.padEnd(64 * 1024 + 1));
  await expect(issuer.has('a')).rejects.toMatchObject({
    tooMuch: false,
    retryAfter: 5,
    detail:
      `the keys of the issuer: the file ${issuer.file} is not a key set of at most 64 KiB ` +
      '(RFC 7517)',
  });
  await writeFile(issuer.file, '{');
  await expect(issuer.has('a')).rejects.toMatchObject({
    detail: `the keys of the issuer: the file ${issuer.file} cannot be read, or is not JSON`,
  });
});

/** Creates an issuer that publishes one key at a URL. */
async function startPublisher(lifetime: number, parse: typeof readKeySet = readKeySet) {
  const host = await startDocumentHost();
  onTestFinished(() => host.close());
  const { jwk } = newKey('ES256');
  let now = 100_000;
  const url = host.publish('/keys', { keys: [jwk] });
  const keys = issuerKeysAt(
    { url, lifetime },
    { ...host.outbound, clock: () => now, allowsLoopback: true, anyPort: true },
    parse,
  );
  const has = (kid: unknown) => keys.haveOne((known) => known.some((key) => key.kid === kid));
  return {
    host,
    url,
    has: () => has(jwk['kid']),
    hasOther: () => has('unknown'),
    publish: () => host.publish('/keys', { keys: [jwk] }),
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

// @shows AS-49.7
test('known keys are used until their lifetime ends, or the clock is set back', async () => {
  const { host, has, pass } = await startPublisher(60);
  expect(await Promise.all([has(), has()])).toEqual([true, true]);
  expect([await has(), host.asked.length]).toEqual([true, 1]);
  pass(59_999);
  expect([await has(), host.asked.length]).toEqual([true, 1]);
  pass(1);
  expect([await has(), host.asked.length]).toEqual([true, 2]);
  pass(-1);
  expect([await has(), host.asked.length]).toEqual([true, 3]);
});

// @shows AS-49.7
test('after a failed fetch, known keys are used, and the next fetch waits five seconds', async () => {
  const { host, has, hasOther, pass } = await startPublisher(60);
  expect(await has()).toBe(true);
  host.answer('/keys', (_, response) => void response.writeHead(500).end());
  pass(20_000);
  expect([await hasOther(), host.asked.length]).toEqual([false, 2]);
  pass(4999);
  expect([await hasOther(), await has(), host.asked.length]).toEqual([false, true, 2]);
  pass(1);
  expect([await hasOther(), host.asked.length]).toEqual([false, 3]);
});

// @shows AS-49.7
test('without known keys, a failed fetch is reported, also for the next five seconds', async () => {
  const { host, url, has, publish, pass } = await startPublisher(60);
  const detail = (text: string) => ({ detail: `the keys of the issuer: ${text}`, tooMuch: false });
  host.publish('/keys', { keys: {} });
  await expect(has()).rejects.toMatchObject(detail(`${url}: it is not a key set (RFC 7517)`));
  publish();
  pass(1);
  await expect(has()).rejects.toMatchObject({
    ...detail('they could not be fetched a moment ago'),
    retryAfter: 5,
  });
  pass(3000);
  await expect(has()).rejects.toMatchObject({ retryAfter: 2 });
  expect(host.asked).toHaveLength(1);
  pass(1999);
  expect([await has(), host.asked.length]).toEqual([true, 2]);
});

// @shows AS-49.7
test('a fault that is not about the fetch is not hidden', async () => {
  const { has } = await startPublisher(60, () => {
    throw new TypeError('a fault');
  });
  await expect(has()).rejects.toThrow(new TypeError('a fault'));
});
