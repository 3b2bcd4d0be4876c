import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Dispatcher } from './dispatch.ts';
import { Routes } from './http/routes.ts';
import type { Kit } from './kit.ts';

/** The parts of an application without accounts that a request without errors uses. */
const KIT = {
  config: { body_limit: 1000, trusted_proxies: [] },
  people: null,
  csrf: null,
  events: { passResponse: (response: Response) => response },
} as unknown as Kit;

/** Creates an application with one route, whose requests run until they are released. */
function waiting() {
  const gates: PromiseWithResolvers<void>[] = [];
  const routes = new Routes('');
  routes.add({
    name: 'slow',
    methods: ['GET'],
    path: '/slow',
    async handler() {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return new Response('finished');
    },
  });
  const dispatcher = new Dispatcher(KIT, routes, []);
  return {
    request: () => dispatcher.fetch(new Request('https://app.example/slow'), { address: null }),
    release: (index: number) => gates[index]?.resolve(),
    ended: () => dispatcher.ended().then(() => true),
  };
}

/** Whether this is true before the next turn of the event loop. */
const atOnce = (work: Promise<boolean>) => Promise.race([work, setImmediate(false)]);

describe('stopping', () => {
  test('does not wait if no request runs', async () => {
    expect(await atOnce(waiting().ended())).toBe(true);
  });

  test('does not wait for requests that have their responses', async () => {
    const { request, release, ended } = waiting();
    const response = request();
    await setImmediate();
    release(0);
    expect((await response).status).toBe(200);
    expect(await atOnce(ended())).toBe(true);
  });

  test('waits for every running request', async () => {
    const { request, release, ended } = waiting();
    const responses = [request(), request()];
    await setImmediate();
    const stopped = ended();
    expect(await atOnce(stopped)).toBe(false);
    release(1);
    await responses[1];
    expect(await atOnce(stopped)).toBe(false);
    release(0);
    await responses[0];
    expect(await stopped).toBe(true);
  });
});
