import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RegistrationError } from '../../errors.ts';
import type { MetadataField } from '../../store/further-metadata.ts';
import {
  collect,
  collectList,
  joinAlternatives,
  namedFields,
  namedKeys,
  namedLogo,
  namedWorkload,
  optionName,
} from './client-options.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-client-options-'));
  await writeFile(path.join(folder, 'text'), '{"keys":["ä"]}');
});
afterAll(() => rm(folder, { recursive: true }));
const fileOf = (name: string) => path.join(folder, name);

test('an option that can be repeated collects its values', () => {
  expect(collect('a')).toEqual(['a']);
  expect(collect('b,c', ['a'])).toEqual(['a', 'b,c']);
  expect(collectList(' a,,b  c\td,')).toEqual(['a', 'b', 'c', 'd']);
  expect(collectList('b, c', ['a'])).toEqual(['a', 'b', 'c']);
  expect(collectList('')).toEqual([]);
});

test('alternatives are joined with commas and "or"', () => {
  expect(joinAlternatives(['RS256'])).toBe('RS256');
  expect(joinAlternatives(['RS256', 'ES256'])).toBe('RS256 or ES256');
  expect(joinAlternatives(['RS256', 'ES256', 'EdDSA'])).toBe('RS256, ES256 or EdDSA');
});

test.each([
  ['--public', 'public'],
  ['--allow-scheme <scheme>', 'allowScheme'],
  ['--a-bcd-ef <a-b>', 'aBcdEf'],
])('the option %s has the name %s', (flag, name) => {
  expect(optionName(flag)).toBe(name);
});

describe('--logo', () => {
  test('is a file or a URL', async () => {
    expect(await namedLogo(undefined)).toEqual({});
    for (const logoUri of ['https://client.example/logo.png', 'HTTP://client.example/'])
      expect(await namedLogo(logoUri)).toEqual({ logoUri });
    const { logo } = await namedLogo(fileOf('text'));
    expect(Buffer.from(logo ?? []).toString()).toBe('{"keys":["ä"]}');
  });

  test('is refused if it cannot be read, with the cause', async () => {
    for (const logo of [fileOf('missing'), 'xhttps://client.example/', 'https.png']) {
      const error: unknown = await namedLogo(logo).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RegistrationError);
      expect(error).toMatchObject({
        message: `The logo ${logo} cannot be read; check the path of the file`,
        cause: { code: 'ENOENT' },
      });
    }
  });
});

describe('--jwks', () => {
  test('is a file or a URL', async () => {
    expect(await namedKeys({})).toEqual({});
    expect(await namedKeys({ jwksAlg: 'ES256' })).toEqual({ tokenEndpointAuthSigningAlg: 'ES256' });
    for (const jwksUri of ['https://client.example/keys', 'HTTP://client.example/'])
      expect(await namedKeys({ jwks: jwksUri, jwksAlg: 'ES256' })).toEqual({
        jwksUri,
        tokenEndpointAuthSigningAlg: 'ES256',
      });
    expect(await namedKeys({ jwks: fileOf('text'), jwksAlg: 'ES256' })).toEqual({
      jwks: { keys: ['ä'] },
      tokenEndpointAuthSigningAlg: 'ES256',
    });
    expect(await namedKeys({ jwks: fileOf('text') })).toEqual({ jwks: { keys: ['ä'] } });
  });

  test('is refused if it is not JSON, with the cause', async () => {
    await writeFile(fileOf('broken'), '{');
    const refused = [fileOf('broken'), fileOf('missing'), 'xhttps://client.example/', 'https.json'];
    for (const jwks of refused) {
      const error: unknown = await namedKeys({ jwks }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RegistrationError);
      expect(error).toMatchObject({
        message: `The key set ${jwks} cannot be read: there is no such file, or it is not valid JSON`,
        cause: expect.any(Error) as Error,
      });
    }
  });
});

test('--workload and --subject belong together', async () => {
  expect(await namedWorkload({})).toEqual({});
  expect(await namedWorkload({ workload: 'https://idp.example', subject: 'a:*' })).toEqual({
    workload: { issuer: 'https://idp.example', subject: 'a:*' },
  });
  for (const one of [{ workload: 'https://idp.example' }, { subject: 'a:*' }])
    await expect(namedWorkload(one)).rejects.toThrow('Use --workload and --subject together');
});

describe('the fields that features add', () => {
  const fields = [
    { name: 'texts', option: { flag: '--some-texts <text>', says: '' } },
    { name: 'text', shape: 'text', option: { flag: '--text <text>', says: '' } },
    { name: 'marked', shape: 'flag', option: { flag: '--marked', says: '' } },
    { name: 'hidden' },
  ] as unknown as readonly MetadataField[];

  test.each([
    [{}, undefined],
    [{ name: ['a'], hidden: ['a'] }, undefined],
    [{ someTexts: ['a', '', 'b'] }, { texts: ['a', 'b'] }],
    [{ someTexts: [''] }, { texts: [] }],
    [{ text: ['a'], other: 1 }, { text: ['a'] }],
    [{ text: 'a' }, undefined],
    [{ marked: true }, { marked: ['true'] }],
    [{ marked: false }, { marked: [] }],
    [{ marked: ['true'] }, undefined],
  ])('are read from the options %j', (options, metadata) => {
    expect(namedFields(fields, options)).toStrictEqual(metadata === undefined ? {} : { metadata });
  });
});
