import { describe, expect, test } from 'vitest';
import { complete, CONTEXT, REQUEST } from './complete-host.fixture.ts';

describe('signing out', () => {
  const signOut = () => {};
  const sessionId = () => 'one';

  test('is impossible without signOut', async () => {
    const { host, did } = complete();
    expect([await host.signOut(REQUEST, '/back'), host.endSession]).toEqual([null, null]);
    expect(did).toEqual(['renewed']);
  });

  test('leads to the page of the host, if it has one', async () => {
    const { host, did } = complete({ signOut: '/leave', sessionId });
    expect(await host.signOut(REQUEST, '/back')).toBe('/leave?return_to=%2Fback');
    expect(await host.endSession?.(REQUEST, '/back')).toBe('/leave?return_to=%2Fback');
    expect(did).toEqual(['renewed', 'renewed']);
  });

  test('records the end of the session before the host ends it', async () => {
    const done: unknown[] = [];
    const given = {
      signOut: (...asked: unknown[]) => void done.push(...asked, did.length),
      sessionId,
    };
    const { host, did, within } = complete(given);
    expect(await within(() => host.endSession?.(REQUEST, '/back'))).toBeNull();
    expect(await within(() => host.signOut(REQUEST, '/back'))).toBe('/login?return_to=%2Fback');
    expect(did).toEqual([
      'renewed',
      ['ended', { session: 'one' }],
      'renewed',
      ['ended', { session: 'one' }],
    ]);
    expect(done).toEqual([REQUEST, CONTEXT, 2, REQUEST, CONTEXT, 4]);
  });

  test('records no end if it is not heard, or if the host does not know the session', async () => {
    for (const host of [
      complete({ signOut, sessionId }, { isHeard: false }),
      complete({ signOut, sessionId: () => null }),
      complete({ signOut, sessionId: () => undefined }),
      complete({ signOut }),
    ]) {
      await host.host.endSession?.(REQUEST, '/back');
      expect(host.did).toEqual(['renewed']);
    }
  });

  test('does not renew the cookie of Portico if the host has its own secret', async () => {
    const { host, did } = complete({ signOut, browserSecret: () => 'secret' });
    expect(await host.endSession?.(REQUEST, '/back')).toBeNull();
    expect(await host.signOut(REQUEST, '/back')).toBe('/login?return_to=%2Fback');
    expect(did).toEqual([]);
  });
});

test('changes of the session are stored before the cookie of Portico is set', async () => {
  const without = complete({ browserSecret: () => 'secret' }).host;
  expect(without.commit).toBeNull();
  const seen: unknown[] = [];
  const commit = async (request: Request, response: Response, context: unknown) => {
    await Promise.resolve();
    seen.push([request, context, response.headers.get('set-cookie')]);
  };
  for (const given of [{ commit }, {}]) {
    const { host, within } = complete(given);
    const response = new Response();
    await within(() => host.commit?.(REQUEST, response));
    expect(response.headers.get('set-cookie')).toBe('a=b');
  }
  expect(seen).toEqual([[REQUEST, CONTEXT, null]]);
  const response = new Response();
  await complete({}, { cookie: null }).host.commit?.(REQUEST, response);
  expect(response.headers.get('set-cookie')).toBeNull();
});
