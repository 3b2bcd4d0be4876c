// @engines sqlite: the keys of issuers are not stored in a database
import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
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
