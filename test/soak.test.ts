// @engines sqlite, long: the heap of the process does not depend on the database
import { describe, expect, test } from 'vitest';
import { PATHS, soak, SOAKED, type PathName } from './support/soak/soak.ts';
import { SCALE } from './support/scale.ts';

/**
 * The allowed growth per call. A request that is not released takes 5,000 to 20,000 bytes. A call
 * sends one to seventeen requests, and one in six to one in two of them use the same code. Less
 * growth than this comes from warming up.
 */
const MOST_BYTES: Readonly<Record<PathName, number>> = {
  JSON: 4000,
  streaming: 4000,
  'hung up': 4000,
  registration: 4000,
  documents: 8000,
  challenges: 4000,
  refresh: 6000,
  signing: 8000,
  devices: 8000,
  logout: 8000,
  'back-channel logout': 8000,
  organizations: 8000,
  administration: 8000,
  health: 2500,
  audit: 4000,
  telemetry: 4000,
  'ID tokens': 8000,
};

describe('no memory leak in a small heap after many calls, on', () => {
  // @shows MCP-8.12
  test.each(
    SOAKED.slice(0, SCALE.soakedMounts).map((mount, index) => [mount, pathsOf(index)] as const),
  )('%s', async (mount, paths) => {
    // In MiB. With Next and its page renderer, 50 MiB are in use before the first call.
    const grown = await soak({
      mount,
      paths,
      calls: SCALE.soakedCalls,
      heap: mount === 'Next' ? 80 : 64,
    });
    expect([...grown.keys()]).toEqual(paths);
    const leaking = [...grown].filter(
      ([path, { bytes, error }]) => bytes - 2 * error > MOST_BYTES[path],
    );
    expect(leaking).toEqual([]);
  });
});

/**
 * The code of each mount sends, streams and cancels responses. So these calls run in every mount.
 */
const OF_MOUNTS: readonly PathName[] = ['JSON', 'streaming', 'hung up'];

/**
 * All calls run in the kit, and in the longest form in every mount, because the code behind an
 * endpoint is the same in all mounts.
 */
function pathsOf(mount: number): readonly PathName[] {
  if (mount === 0) return PATHS;
  if (SCALE.soakedMounts < SOAKED.length) return OF_MOUNTS;
  // Only the kit can look up the account of an email address, for the link, and knows when a
  // session ends.
  return PATHS.filter((name) => name !== 'organizations' && name !== 'back-channel logout');
}
