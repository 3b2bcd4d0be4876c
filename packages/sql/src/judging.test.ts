import { describe, expect, test } from 'vitest';
import { failing, ok, skipped, warning } from './findings.ts';
import { judgeLimit, judgeRoom, orOk, toSettings } from './judging.ts';

describe('the settings of a server', () => {
  const settings = toSettings([
    ['MAX_connections', 100],
    ['name', 'db'],
  ]);

  test('are found by their name in lower case', () => {
    expect(settings.text('max_connections')).toBe('100');
    expect(settings.number('max_connections')).toBe(100);
    expect(settings.find('name')).toBe('db');
    expect(settings.find('other')).toBeNull();
    expect(() => settings.text('other')).toThrow('the server reports no other');
    expect(() => settings.number('other')).toThrow('the server reports no other');
  });
});

test('without a problem, the finding is that all is well', () => {
  const found = warning('slow', 'do less');
  expect(orOk([null, null], 'well')).toEqual([ok('well')]);
  expect(orOk([null, found], 'well')).toEqual([found]);
  expect([ok('a'), skipped('a'), failing('a', 'b'), warning('a', 'b')]).toEqual([
    { outcome: 'ok', detail: 'a', remedy: null },
    { outcome: 'skipped', detail: 'a', remedy: null },
    { outcome: 'failing', detail: 'a', remedy: 'b' },
    { outcome: 'warning', detail: 'a', remedy: 'b' },
  ]);
});

describe('the doctor', () => {
  const pool = (size: number) => ({ size, lifetime: 300 });

  test('counts the processes that can connect', () => {
    expect(judgeRoom(100, null)).toEqual(ok('the server allows 100 connections for this account'));
    expect(judgeRoom(100, pool(10)).detail).toMatch(/100 connections: enough for 10 processes/);
    expect(judgeRoom(10, pool(10)).detail).toMatch(/enough for 1 process with a pool of 10$/);
    expect(judgeRoom(10, pool(10)).outcome).toBe('ok');
    expect(judgeRoom(9, pool(10))).toMatchObject({
      outcome: 'warning',
      detail: expect.stringMatching(/^the pool can open 10 connections.* only 9:/) as string,
    });
  });

  test('warns about a time limit that is too short', () => {
    expect(judgeLimit('lock_timeout', 999, 1000)).toMatchObject({
      outcome: 'warning',
      detail: expect.stringMatching(/^lock_timeout is only 999 ms:/) as string,
    });
    expect(judgeLimit('lock_timeout', 1, 1000)).not.toBeNull();
    for (const limit of [1000, 0, -1]) expect(judgeLimit('a', limit, 1000)).toBeNull();
  });
});
