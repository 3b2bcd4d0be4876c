import { describe, expect, test } from 'vitest';
import { loadDriver, needed, refusalOfOld, refuseOldDriver } from './driver.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });
const OLD = { name: 'pg', least: '999.0' };

describe('a database driver', () => {
  test('is loaded, and reported if it is missing', async () => {
    expect(await loadDriver(OLD, async () => 'module')).toBe('module');
    const missing = () => Promise.reject(coded('ERR_MODULE_NOT_FOUND'));
    await expect(loadDriver(OLD, missing)).rejects.toThrow(
      'database_url: needs the package pg, which is not installed; run npm install pg',
    );
  });

  test('that is broken fails with its own error', async () => {
    for (const error of [coded('ERR_OTHER'), new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }])
      await expect(loadDriver(OLD, () => Promise.reject(error))).rejects.toBe(error);
  });

  test('is refused if its version is too old', () => {
    expect(needed(OLD)).toBe('pg 999.0 or later');
    expect(() => refuseOldDriver(OLD)).toThrow(
      /^database_url: needs the package pg 999\.0 or later, but version \d+\.\d+\.\d+ is installed; run npm install pg@999$/,
    );
    refuseOldDriver({ name: 'no-such-driver', least: '1.0' });
  });

  test('is compared by its major and its minor version', () => {
    const version = /version (\d+)\.(\d+)/.exec(String(caught(() => refuseOldDriver(OLD))));
    const [major = 0, minor = 0] = version?.slice(1).map(Number) ?? [];
    const refused = (least: string) =>
      caught(() => refuseOldDriver({ name: 'pg', least })) !== null;
    expect(refused(`${major}.${minor}`)).toBe(false);
    expect(refused(`${major}.${minor + 1}`)).toBe(true);
    expect(refused(`${major + 1}`)).toBe(true);
    expect(refused(`${major - 1}.${minor + 1}`)).toBe(false);
    expect(refused(`${major + 1}.0`)).toBe(true);
  });

  test('that created a pool is named with its version if it is too old', async () => {
    const load = async () => ({ default: { Pool: Map } });
    expect(await refusalOfOld(OLD, load, new Map())).toMatch(/^; this is version \d+\.\d+/);
    expect(await refusalOfOld(OLD, load, {})).toBeNull();
    expect(await refusalOfOld(OLD, async () => ({ default: {} }), {})).toBeNull();
    expect(await refusalOfOld(OLD, () => Promise.reject(coded('no')), {})).toBeNull();
    expect(await refusalOfOld({ name: 'pg', least: '1.0' }, load, new Map())).toBeNull();
  });
});

function caught(call: () => void): unknown {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}
