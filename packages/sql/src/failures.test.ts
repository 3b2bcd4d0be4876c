import { describe, expect, test } from 'vitest';
import {
  describeCause,
  foreignTransaction,
  isAboutName,
  isFoundUndone,
  isReadOnly,
  isRefused,
  isUnavailable,
  isUnknown,
  isUnreachable,
  isWorthRetrying,
  noConnection,
  rolledBack,
  tooManyConflicts,
} from './failures.ts';
import { findRemedy, getErrorCodes } from './meaning.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });
const within = (cause: unknown) => new Error('outer', { cause });
/** Nests an error below this many others. */
const nested = (error: Error, depth: number): Error =>
  depth === 0 ? error : within(nested(error, depth - 1));

describe('an unavailable store', () => {
  test.each([
    'EADDRNOTAVAIL',
    'EAI_AGAIN',
    'ECONNABORTED',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'EPROTO',
    'ENOTFOUND',
    'EHOSTDOWN',
    'EHOSTUNREACH',
    'ENETDOWN',
    'ENETUNREACH',
    'ETIMEDOUT',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'CERT_HAS_EXPIRED',
    'CRL_HAS_EXPIRED',
    'UNABLE_TO_GET_ISSUER_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    // unavailable, read-only, refused and unknown on PostgreSQL
    '57014',
    '25006',
    '28P01',
    '57P01',
  ])('is recognized by the code %s, also in a cause', (code) => {
    expect(isUnavailable(coded(code))).toBe(true);
    expect(isUnavailable(within(coded(code)))).toBe(true);
    expect(isUnavailable(new AggregateError([new Error('no'), coded(code)]))).toBe(true);
  });

  test.each([
    ['a wrong statement', coded('42P01')],
    ['a broken unique constraint', coded('23505')],
    ['a conflict', coded('40001')],
    ['the name of a prepared statement', coded('26000')],
    ['another error of Node', coded('ENOENT')],
    ['a code that only contains such a code', coded('NO_CERT_')],
    ['a code that is a number', Object.assign(new Error('no'), { code: 1 })],
    ['a text', 'ECONNREFUSED'],
    ['an object', { code: 'ECONNREFUSED' }],
    ['nothing', undefined],
  ])('is not recognized by %s', (_, error) => {
    expect(isUnavailable(error)).toBe(false);
    expect(isUnavailable(within(error))).toBe(false);
  });

  test('is recognized by a failed attempt to reach it, whatever the code', () => {
    for (const syscall of ['connect', 'getaddrinfo']) {
      const error = Object.assign(coded('ENOENT'), { syscall });
      for (const each of [error, within(error), new AggregateError([error])]) {
        expect(isUnreachable(each)).toBe(true);
        expect(isUnavailable(each)).toBe(true);
      }
    }
    const reading = Object.assign(coded('ENOENT'), { syscall: 'read' });
    expect([isUnreachable(reading), isUnavailable(reading)]).toEqual([false, false]);
    expect([isUnreachable(coded('ECONNREFUSED')), isUnreachable('connect')]).toEqual([
      false,
      false,
    ]);
  });

  test('is recognized through five causes, and a cycle of causes ends', () => {
    const lost = coded('ECONNRESET');
    expect(isUnavailable(nested(lost, 5))).toBe(true);
    expect(isUnavailable(nested(lost, 6))).toBe(false);
    const round = new Error('round');
    round.cause = round;
    expect(isUnavailable(round)).toBe(false);
  });
});

describe('the errors of Portico itself', () => {
  const conflicts = tooManyConflicts(coded('40001'));
  const none = noConnection('The pool is empty');
  const all = [conflicts, none, foreignTransaction(), rolledBack()];

  test('say what happened, with the cause', () => {
    expect(conflicts.message).toBe('Other transactions kept changing the same rows: 40001');
    expect(conflicts.cause).toMatchObject({ code: '40001' });
    expect(tooManyConflicts('no').message).toMatch(/: no$/);
    expect(none.message).toBe('The pool is empty');
  });

  test('are unavailable, except a rollback that the work caused', () => {
    expect(all.map(isUnavailable)).toEqual([true, true, true, false]);
  });

  // @shows AS-18.9
  test('show that nothing took effect if they report a rollback', () => {
    expect(all.map(isFoundUndone)).toEqual([false, false, true, true]);
    expect(isFoundUndone(coded('ECONNRESET'))).toBe(false);
    expect(isFoundUndone(new Error('no'))).toBe(false);
    expect(isFoundUndone('PORTICO_ROLLED_BACK')).toBe(false);
  });
});

describe('an error of an engine', () => {
  test.each([
    ['57014', { unknown: false, refused: false, readOnly: false, name: false, retried: false }],
    ['57P01', { unknown: true, refused: false, readOnly: false, name: false, retried: false }],
    ['28P01', { unknown: false, refused: true, readOnly: false, name: false, retried: false }],
    ['25006', { unknown: false, refused: false, readOnly: true, name: false, retried: false }],
    ['26000', { unknown: false, refused: false, readOnly: false, name: true, retried: true }],
    ['40001', { unknown: false, refused: false, readOnly: false, name: false, retried: true }],
  ])('%s has one meaning', (code, meaning) => {
    const means = (error: unknown) => ({
      unknown: isUnknown(error),
      refused: isRefused(error),
      readOnly: isReadOnly(error),
      name: isAboutName(error),
      retried: isWorthRetrying(error),
    });
    expect(means(coded(code))).toEqual(meaning);
    expect(Object.values(means(code))).not.toContain(true);
    expect(isWorthRetrying(within(coded(code)))).toBe(meaning.retried);
  });

  test('has the codes of its driver and of Node', () => {
    const error = Object.assign(coded('ER_NO'), { errno: 1045 });
    expect(getErrorCodes(error)).toEqual(['ER_NO', 1045]);
    expect(getErrorCodes(new Error('no'))).toEqual([]);
  });

  test('has the first remedy for its code, its number or its message', () => {
    const error = Object.assign(coded('ER_NO'), { errno: 1045, message: 'denied' });
    const remedies = [/^ER_NO$/, /^1045$/, /^denied$/].map(
      (of, index) => [of, `${index}`] as const,
    );
    expect(findRemedy(remedies, error)).toBe('0');
    for (const [index, each] of remedies.entries())
      expect(findRemedy([[/^other$/, 'no'], each], error)).toBe(`${index}`);
    expect(findRemedy([[/^other$/, 'no']], error)).toBeNull();
  });
});

describe('the description of a cause', () => {
  test('has a message for each address if several failed', () => {
    expect(describeCause(new Error('no'))).toBe('no');
    expect(describeCause(new Error(''))).toBe('');
    expect(describeCause(new AggregateError([new Error('no')], 'several'))).toBe('several');
    expect(describeCause(new AggregateError([new Error('one'), 'other']))).toBe('one; other');
  });
});
