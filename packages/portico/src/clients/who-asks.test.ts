import { describe, expect, test } from 'vitest';
import { ENGLISH_WORDS } from '../pages/words.ts';
import {
  calledName,
  comesFrom,
  getDestination,
  hasOneDestination,
  isVerified,
  namedLikeServer,
  unverified,
} from './who-asks.ts';

const DOCUMENT = 'https://Client.example:8443/oauth/client.json';
const LOOPBACK = 'http://127.0.0.1:33418/callback';

describe('an unverified client', () => {
  const words = { ...ENGLISH_WORDS, t: (key: string) => `[${key}]` } as typeof ENGLISH_WORDS;
  const about = (registeredBy: 'operator' | 'document' | 'registration', redirectUri: string) =>
    unverified({ id: DOCUMENT, name: 'Some Tool', registeredBy }, redirectUri, 'Portal', words);

  // @shows AS-8.14
  test('with a document is named by the host of the document, wherever the response goes', () => {
    const asks = { asks: 'client.example:8443', isHost: true, calledName: 'Some Tool' };
    expect(about('document', LOOPBACK)).toEqual({
      ...asks,
      answersTo: { kind: 'computer', text: '[client.on_this_computer]' },
    });
    expect(about('document', 'https://elsewhere.example/c')).toEqual({
      ...asks,
      answersTo: { kind: 'site', text: 'elsewhere.example' },
    });
  });

  // @shows AS-8.14
  test('that registered itself is named by the destination, as a host only for a site', () => {
    expect(about('registration', 'https://elsewhere.example/c')).toMatchObject({
      asks: 'elsewhere.example',
      isHost: true,
    });
    expect(about('registration', LOOPBACK)).toMatchObject({
      asks: '[client.on_this_computer]',
      isHost: false,
    });
    expect(about('registration', 'com.example.app:/c')).toMatchObject({
      asks: '[client.on_this_device]',
      isHost: false,
    });
  });

  test('is every client that no operator registered', () => {
    const by = (['operator', 'document', 'registration'] as const).map((registeredBy) => ({
      registeredBy,
    }));
    expect(by.map(isVerified)).toEqual([true, false, false]);
    expect(about('operator', LOOPBACK)).toBeNull();
  });
});

describe('the destination of responses', () => {
  // @shows AS-8.15
  test.each([
    ['https://elsewhere.example/c', 'site', 'elsewhere.example'],
    ['http://elsewhere.example:8080/c', 'site', 'elsewhere.example:8080'],
    ['http://127.0.0.1:1/c', 'computer', 'a program on this computer'],
    ['https://localhost/c', 'computer', 'a program on this computer'],
    ['com.example.app://portal.example/c', 'device', 'an application on this device'],
    ['com.example.app://localhost/c', 'device', 'an application on this device'],
  ])('%s: %s', (redirectUri, kind, text) => {
    expect(getDestination(redirectUri)).toEqual({ kind, text });
  });

  // @shows AS-8.14
  test.each([
    [true, ['https://a.example/c']],
    [true, ['https://a.example/c', 'https://a.example/d']],
    [false, ['https://a.example/c', 'https://b.example/c']],
    [true, [LOOPBACK, 'http://localhost/other']],
    [false, [LOOPBACK, 'https://a.example/c']],
    [true, ['com.example.app:/c', 'com.example.app:/d']],
    [false, ['com.example.app:/c', 'com.example.other:/c']],
    [false, []],
  ])('is a single place (%s) for %j', (isOne, redirectUris) => {
    expect(hasOneDestination(redirectUris)).toBe(isOne);
  });

  // @shows AS-8.14
  test('is listed once per place for a self-registered client, and is the host for a document', () => {
    const redirectUris = [
      'https://a.example/c',
      'https://b.example/c',
      'https://a.example/d',
      LOOPBACK,
    ];
    expect(comesFrom({ id: 'x', registeredBy: 'registration', redirectUris })).toBe(
      'a.example, b.example, a program on this computer',
    );
    expect(comesFrom({ id: DOCUMENT, registeredBy: 'document', redirectUris })).toBe(
      'client.example:8443',
    );
  });
});

describe('the name that a client gives itself', () => {
  const flags = (count: number) => '🇩🇪'.repeat(count);

  // @shows AS-8.15
  test.each<[what: string, name: string, shown: string | null]>([
    ['unchanged', 'Some Tool 2.0', 'Some Tool 2.0'],
    ['with one space between words, and none at the ends', '  Some \u00a0  Tool ', 'Some Tool'],
    ['not at all if all its characters are invisible', ' \u200b\u202e ', null],
    [
      'with at most two marks on a letter',
      `x${'\u0301'.repeat(2)} q${'\u0301'.repeat(3)}`,
      `x${'\u0301'.repeat(2)} q${'\u0301'.repeat(2)}`,
    ],
    ['without quotes', '“Tool” «of» "mine"', 'Tool of mine'],
    ['with letters in their plain form', 'Ｔｏｏｌ', 'Tool'],
    ['with scripts that belong together', 'LINE東京 Кириллица', 'LINE東京 Кириллица'],
    ['not at all if one word mixes scripts that do not belong together', 'Some Tооl', null],
    ['completely if it has sixty visible characters', flags(60), flags(60)],
    ['shortened if it is longer', flags(61), `${flags(59)}…`],
  ])('is shown in a safe form: %s', (_, name, shown) => {
    expect(calledName(name, 'Portal')).toBe(shown);
  });

  // @shows AS-8.15
  test.each([
    ['Portal', 'Portal'],
    ['Portal', 'The P.O.R.T.A.L. Security'],
    ['Portal', 'P0rtal helper'],
    ['Straße', 'my straße'],
    ['Weiß', 'WEISS Notes'],
    // If the name has fewer than four letters, it is found inside a word only by exactly these
    // letters.
    ['Aß', 'ReAẞoned'],
    ['Aß', 'Reassoned'],
    ['SAP', 'SA\u0345P-Login'],
    ['Nest', 'Bar n.e.s.t'],
    ['Nest 24', 'Bar (Nest) 24'],
    ['Über', 'u\u0308ber all'],
    ['東京', '東京銀行'],
  ])('is not shown if it contains the server name %s: %s', (server, name) => {
    expect(calledName(name, server)).toBeNull();
  });

  test.each(['!', '', '—'])('is shown if the server name has no letter: %j', (server) => {
    expect(calledName('Some Tool', server)).toBe('Some Tool');
  });
});

describe('the check for a client that is named like the server', () => {
  const named = (name: string, registeredBy: 'operator' | 'registration') =>
    namedLikeServer({ id: 'x', name, registeredBy }, 'Portal');

  // @shows AS-8.15
  test('compares the whole name of an operator client, and any part of a different one', () => {
    const names = ['Portal', 'P0RTAL', 'Portal Notes', 'Notes'];
    expect(names.map((name) => named(name, 'operator'))).toEqual([true, true, false, false]);
    expect(names.map((name) => named(name, 'registration'))).toEqual([true, true, true, false]);
  });
});
