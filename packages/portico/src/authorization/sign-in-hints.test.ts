import { expect, test } from 'vitest';
import { createParameters } from '../parameters.ts';
import type { Server } from '../server.ts';
import { hintsRead, readHint, sentHints, type Hint } from './sign-in-hints.ts';

const sent = (...pairs: [name: string, value: string][]) =>
  createParameters(new URLSearchParams(pairs));
const taken = (hint: Hint, value: string) => readHint(sent([hint, value]), hint);

test('a login_hint of up to 254 characters is passed on as sent', () => {
  for (const hint of ['ada@example.com', ' ada ', '"><script>', 'ädä', 'x'.repeat(254)])
    expect(taken('login_hint', hint)).toBe(hint);
  for (const hint of [
    '',
    ' ',
    '\t',
    'x'.repeat(255),
    'a\u0000b',
    'a\nb',
    'a\u202eb',
    'a\u2028b',
    'a\u00adb',
  ])
    expect(taken('login_hint', hint)).toBeUndefined();
});

test('ui_locales of up to 200 characters are passed on if they look like language tags', () => {
  for (const locales of ['de', 'de-AT en', 'x'.repeat(200)])
    expect(taken('ui_locales', locales)).toBe(locales);
  for (const locales of [
    '',
    ' de',
    'de ',
    'de  en',
    'de_AT',
    'dé',
    'x'.repeat(201),
    'de\nen',
    '-de',
  ])
    expect(taken('ui_locales', locales)).toBeUndefined();
});

test('a repeated sign-in hint counts as missing, whatever its value', () => {
  expect(
    readHint(sent(['login_hint', 'ada'], ['login_hint', 'ada']), 'login_hint'),
  ).toBeUndefined();
  expect(readHint(sent(['login_hint', 'ada'], ['login_hint', '']), 'login_hint')).toBeUndefined();
  expect(readHint(sent(['ui_locales', 'de']), 'login_hint')).toBeUndefined();
});

test('the requested sign-in hints are passed on, each under its name, and no other parameters', () => {
  const both = sent(['ui_locales', 'de'], ['login_hint', 'ada'], ['state', 's']);
  expect(sentHints(both, ['login_hint', 'ui_locales'])).toEqual([
    ['login_hint', 'ada'],
    ['ui_locales', 'de'],
  ]);
  expect(sentHints(both, ['ui_locales'])).toEqual([['ui_locales', 'de']]);
  expect(sentHints(both, [])).toEqual([]);
  expect(
    sentHints(sent(['ui_locales', 'de'], ['login_hint', ' ']), ['login_hint', 'ui_locales']),
  ).toEqual([['ui_locales', 'de']]);
});

test('a hint is read only if the sign-in page or the pages of the server use it', () => {
  const read = (tellsWhoWaits: boolean, locales: readonly string[] | null) =>
    hintsRead({ host: { tellsWhoWaits }, speaking: { locales } } as unknown as Server);
  expect(read(true, null)).toEqual(['login_hint', 'ui_locales']);
  expect(read(false, ['en', 'de'])).toEqual(['ui_locales']);
  expect(read(false, null)).toEqual([]);
});
