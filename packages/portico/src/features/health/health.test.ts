import { describe, expect, test } from 'vitest';
import { Health } from './health.ts';

const log = { debug() {}, info() {}, warning() {}, error() {} };
const works = () => Promise.resolve(true);

describe('the checks for readiness probes', () => {
  test('do not check a part again that has not responded yet', async () => {
    let [asked, now] = [0, 0];
    function store(): Promise<boolean> {
      asked += 1;
      return new Promise(() => {});
    }
    const health = new Health({ store, schema: works, key: works }, () => (now += 5000), log, 1);
    expect((await health.readiness()).checks['store']).toBe('failing');
    expect((await health.readiness()).checks['store']).toBe('failing');
    expect(asked).toBe(1);
  });

  test('leave no timer behind, because it would keep the process running', async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    const health = new Health({ store: works, schema: works, key: works }, Date.now, log);
    const before = timers();
    expect((await health.readiness()).status).toBe('ready');
    expect(timers()).toBe(before);
  });
});
