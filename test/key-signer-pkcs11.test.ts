// @engines sqlite, needs softhsm opensc: a PKCS#11 module signs
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pkcs11Signer, type Pkcs11Key } from '../examples/key-signer-pkcs11/signer.ts';
import {
  ADA,
  exchangeCode,
  obtainCode,
  registerClient,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

const run = promisify(execFile);
/** From Debian's package softhsm2; the tools are those of softhsm2 and opensc. */
const MODULE = '/usr/lib/softhsm/libsofthsm2.so';
const PIN = '648219';
const AS_USER = ['--module', MODULE, '--token-label', 'portico', '--login', '--pin', PIN];
const KEYS: readonly (readonly [Pkcs11Key['algorithm'], string, string])[] = [
  ['RS256', '01', 'rsa:2048'],
  ['ES256', '02', 'EC:prime256v1'],
];

let folder: string;
let portal: RunningPortal;

const keyOf = (algorithm: Pkcs11Key['algorithm'], id: string): Pkcs11Key => ({
  module: MODULE,
  token: 'portico',
  id,
  pinVariable: 'PORTICO_TEST_PIN',
  kid: `module ${algorithm}`,
  algorithm,
});

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-softhsm-'));
  await mkdir(path.join(folder, 'tokens'));
  const configuration = path.join(folder, 'softhsm2.conf');
  await writeFile(configuration, `directories.tokendir = ${folder}/tokens\n`);
  process.env['SOFTHSM2_CONF'] = configuration;
  process.env['PORTICO_TEST_PIN'] = PIN;
  await run('softhsm2-util', [
    '--init-token',
    '--free',
    '--label',
    'portico',
    '--so-pin',
    '12345678',
    '--pin',
    PIN,
  ]);
  for (const [, id, type] of KEYS)
    await run('pkcs11-tool', [...AS_USER, '--keypairgen', '--key-type', type, '--id', id]);
  const keySigners: Awaited<ReturnType<typeof pkcs11Signer>>[] = [];
  // Open the keys one after the other, because two processes that open a new SoftHSM token at the
  // same time can fail.
  for (const [algorithm, id] of KEYS) keySigners.push(await pkcs11Signer(keyOf(algorithm, id)));
  portal = await startPortal({ keySigners, signingKey: false });
});
afterAll(async () => {
  await portal.close();
  await rm(folder, { recursive: true });
});

describe('a key in SoftHSM (PKCS #11)', () => {
  // @shows AS-11.18
  test.each(KEYS)('signs ID tokens with %s, without a key file', async (algorithm) => {
    const client = await registerClient(portal, { idTokenSignedResponseAlg: algorithm });
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const tokens = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    const set = (await (
      await fetch(`${portal.url}/.well-known/jwks.json`)
    ).json()) as JSONWebKeySet;
    const { protectedHeader } = await jwtVerify(tokens.id_token, createLocalJWKSet(set));
    expect(protectedHeader).toEqual({ alg: algorithm, kid: `module ${algorithm}`, typ: 'JWT' });
    expect((await portal.server.keys.list()).map(({ file }) => file)).toEqual([null, null]);
  });

  // @shows AS-11.19
  test('that is unavailable does not use up the code: the same code works afterwards', async () => {
    const client = await registerClient(portal);
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    process.env['PORTICO_TEST_PIN'] = '000000';
    expect((await exchangeCode(portal, client, code)).status).toBe(503);
    process.env['PORTICO_TEST_PIN'] = PIN;
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
  });
});
