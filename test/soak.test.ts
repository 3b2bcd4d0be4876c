// @engines sqlite, long: what a process keeps in its heap is no matter of the database
import { describe, expect, test } from 'vitest';
import { PATHS, soak, SOAKED, type PathName } from './support/soak/soak.ts';
import { SCALE } from './support/scale.ts';

/**
 * A request that is kept takes 5,000 to 20,000 bytes. A call is one to seventeen requests, of which one in six to one in two go the same
 * way; what is below is memory that warms up.
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
  administration: 8000,
  health: 2500,
  audit: 4000,
  telemetry: 4000,
  'ID tokens': 8000,
};

describe('a call leaves nothing behind in a small heap: of MCP in JSON, streaming and with a caller who hangs up; registering, consent with a document, challenges, refreshing again, clients that sign, and what operators use', () => {
  // @shows MCP-8.12
  test.each(SOAKED.slice(0, SCALE.soakedMounts).map((mount, index) => [mount, pathsOf(index)] as const))(
    '%s',
    async (mount, paths) => {
      // In MiB. With Next and what renders its pages, 50 are taken before the first call.
      const grown = await soak({ mount, paths, calls: SCALE.soakedCalls, heap: mount === 'Next' ? 80 : 64 });
      expect([...grown.keys()]).toEqual(paths);
      const leaking = [...grown].filter(([path, { bytes, error }]) => bytes - 2 * error > MOST_BYTES[path]);
      expect(leaking).toEqual([]);
    },
  );
});

/** What a mount's own code answers, streams and gives up: in each of them. */
const OF_MOUNTS: readonly PathName[] = ['JSON', 'streaming', 'hung up'];

/** All of them in the kit, and in the longest form everywhere: what lies behind an endpoint is the same in all mounts. */
function pathsOf(mount: number): readonly PathName[] {
  return mount === 0 || SCALE.soakedMounts >= SOAKED.length ? PATHS : OF_MOUNTS;
}
