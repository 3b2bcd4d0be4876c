/**
 * How much the tests do that can do more: the short form for `npm test`, between two edits, and the long one for
 * `npm run test:stress`, which sets STRESS. A test file that imports this one belongs to the stress run.
 */
const COUNTS = {
  /** Concurrent uses of one code, and of one refresh token, in two processes. */
  raceRounds: { short: 25, long: 1000 },
  /** How often a server process is killed under load. */
  kills: { short: 3, long: 50 },
  /** How often a database server is stopped under load. */
  outages: { short: 1, long: 3 },
  /** MCP calls in each mount and mode whose bytes are counted. */
  mcpCalls: { short: 120, long: 6000 },
  /** Times five people sign in while one network floods the sign-in. */
  floodedSignIns: { short: 1, long: 3 },
  /** KiB of memory for a hash that takes its time: the kit's own in the long form. */
  slowHashMemory: { short: 16_384, long: 47_104 },
  /** Of light and dark, on a phone and on a desktop: both of each, or every pair. */
  looks: { short: 2, long: 4 },
  /** Applications, each with another framework installed, that are compiled with their libraries. */
  compiledApplications: { short: 1, long: 4 },
  /** The kit and the bare mount, or all. */
  soakedMounts: { short: 2, long: 4 },
  /** Odd requests to every endpoint of the server and the kit. */
  hostileRequests: { short: 200, long: 10_000 },
  /** Odd requests to every API of the examples. */
  hostileApiRequests: { short: 200, long: 3000 },
} as const;

export const STRESS = process.env['STRESS'] !== undefined;

type Counts = Readonly<Record<keyof typeof COUNTS, number>>;

export const SCALE = Object.fromEntries(
  Object.entries(COUNTS).map(([name, { short, long }]) => [name, STRESS ? long : short]),
) as Counts;
