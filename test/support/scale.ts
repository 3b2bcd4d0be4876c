/**
 * Counts and sizes for tests that have a short form (`npm test`), a long one (`npm run test:all`)
 * and perhaps a longest one (`npm run test:longest`).
 */
const COUNTS = {
  /**
   * Concurrent uses of one code, and of one refresh token, in two processes. If the claim of a code
   * forgets that it was spent, the second round finds two answers.
   */
  raceRounds: { short: 8, long: 40, longest: 1000 },
  /**
   * Browsers of two processes that open one pushed request at once. If each gets its own question,
   * the first round finds it.
   */
  pushedRounds: { short: 10, long: 25, longest: 1000 },
  /**
   * Rounds in which two processes poll with one device code at once. If a poll does not claim it,
   * the second round finds two answers.
   */
  deviceRounds: { short: 10, long: 1000, longest: 1000 },
  /**
   * Rounds of five concurrent uses of one refresh token, with a window. If a late one only asks for
   * a replay, the first finds a dead authorization.
   */
  retryRounds: { short: 20, long: 40, longest: 1000 },
  /**
   * Rounds of two processes that do different things to one authorization. If the claim of a
   * refresh ignores the revocation, the first finds it.
   */
  mixedRaceRounds: { short: 5, long: 12, longest: 100 },
  /**
   * Rounds in which everything that a person allowed is ended while two processes refresh, exchange
   * codes and accept the person's answer. If waiting requests are not ended, the second finds it.
   */
  accessRounds: { short: 4, long: 10, longest: 400 },
  /**
   * Rounds in which access ends while two processes begin more of it without a question. If the
   * remembered authorization is not locked, or is not looked for again, the first twenty find it.
   */
  rememberedRounds: { short: 20, long: 100, longest: 600 },
  /**
   * Random runs of clients, people and operators, for each choice of lifetimes (docs/assurance.md
   * says how many find a fault).
   */
  statefulRuns: { short: 4, long: 20, longest: 1500 },
  /**
   * Rounds in which one process changes a client while another serves it. If a use relies on a read
   * from before the change without a second look, the first finds it; a lost update of two, the
   * first.
   */
  updateRounds: { short: 2, long: 10, longest: 200 },
  /** Messages in the outbox that are delivered while processes are killed. */
  outboxMessages: { short: 400, long: 2000, longest: 10_000 },
  /**
   * How often a server process is killed under load. If it answers before it commits, the first
   * finds it.
   */
  kills: { short: 3, long: 6, longest: 50 },
  /** The same with a window for refreshing again. */
  retryKills: { short: 2, long: 5, longest: 30 },
  /** How often a database server is stopped under load. */
  outages: { short: 1, long: 2, longest: 3 },
  /** The connections of the server: its own, or also those of the application's pool. */
  outageStores: { short: 1, long: 2 },
  /** How often two processes and their database server are killed while a history is written. */
  historyRounds: { short: 1, long: 3 },
  /** The same with a window for refreshing again. */
  windowHistoryRounds: { short: 1, long: 1, longest: 3 },
  /** Uses whose statement is lost while a third transaction changes the row that it waits for. */
  lostUses: { short: 8, long: 25, longest: 60 },
  /** MCP calls in each mount and mode whose bytes are counted; of the other paths a share. */
  soakedCalls: { short: 120, long: 160, longest: 6000 },
  /**
   * Authorizations that move between the nodes of a cluster: four times in each, one node reads
   * what another has written.
   */
  clusterAuthorizations: { short: 120, long: 120, longest: 2000 },
  /** How often each fault of a replicated database happens under load. */
  clusterFaults: { short: 1, long: 1, longest: 8 },
  /**
   * For how many seconds a node is cut off from its cluster and still receives requests; a code
   * lives for 60.
   */
  cutOffFor: { short: 5, long: 5, longest: 270 },
  /** Faults that a person on call must name: the first three, or all. */
  faultsOnCall: { short: 3, long: 99 },
  /** How many times five people sign in while one network floods the sign-in. */
  floodedSignIns: { short: 1, long: 3 },
  /** KiB of memory for a slow hash; the kit's own value in the long form. */
  slowHashMemory: { short: 16_384, long: 47_104 },
  /** Combinations of light or dark with phone or desktop: two that cover all four, or every one. */
  looks: { short: 2, long: 4 },
  /** Languages in which the pages are checked, each at another width and in other colours. */
  lookedAtLanguages: { short: 1, long: 4 },
  /** Languages in which they are checked at 200 %. */
  zoomedLanguages: { short: 1, long: 2, longest: 8 },
  /** Pages of the site that are checked. */
  sitePages: { short: 1, long: 3, longest: 5 },
  /** The same for the administration pages, of which there are many. */
  administrationLooks: { short: 1, long: 2, longest: 4 },
  /** Applications that are compiled, each with another framework installed. */
  compiledApplications: { short: 1, long: 8 },
  /** Ways to compile an application to CommonJS. */
  commonJsModes: { short: 1, long: 3, longest: 6 },
  /** Bundlers for an application: the one of the build, or all. */
  bundlers: { short: 1, long: 3 },
  /** Clients that connect from a bare URL: one, or all, three of which are built first. */
  bareClients: { short: 1, long: 99 },
  /** Clients in other languages that authenticate: each is installed first. */
  clientPrograms: { short: 0, long: 99 },
  /** Programs from the pages about mounting that are run. */
  documentedPrograms: { short: 2, long: 20 },
  /** Mounts in the soak test: the kit, one for each way to mount, or all. */
  soakedMounts: { short: 1, long: 6, longest: 99 },
  /**
   * Applications behind proxies that remove a base path or not: the kit, Express and bare Node, or
   * all.
   */
  basePathStacks: { short: 1, long: 99 },
  /**
   * Combinations of the other options, for each option of client authentication and token binding.
   */
  otherSwitches: { short: 1, long: 6, longest: 12 },
  /** Odd paths similar to that of one endpoint. */
  oddPaths: { short: 60, long: 4000, longest: 20_000 },
  /**
   * Requests with secrets in wrong places. If client ids of strangers are logged unchanged, the
   * first hundred finds it.
   */
  plantedSecrets: { short: 150, long: 2000, longest: 10_000 },
  /**
   * Odd requests to every endpoint of the server and the kit. The rarest required answer is one of
   * 200.
   */
  hostileRequests: { short: 40, long: 1500, longest: 10_000 },
  /** The same on a database server. */
  hostileRequestsOnServers: { short: 40, long: 200, longest: 10_000 },
  /**
   * Assertions with something wrong, or at the edge of validity. If one audience of two is enough,
   * the seventh hundred finds it.
   */
  hostileAssertions: { short: 30, long: 1000 },
  /**
   * Rounds in which one assertion is presented four times at once, to two processes. If its use is
   * looked up first and written afterwards, the first round finds two that are let in.
   */
  assertionRounds: { short: 25, long: 100, longest: 1000 },
  /** Unusual proofs of possession, at each place that checks them. */
  hostileProofs: { short: 8, long: 250, longest: 10_000 },
  /**
   * Rounds of eight odd requests that are measured. If request data becomes an attribute, the first
   * finds it.
   */
  hostileMeasured: { short: 6, long: 300, longest: 1000 },
  /**
   * Steps of up to five minutes, in which two processes rotate their keys and sign. If a new key
   * signs at once, the first rotation finds it.
   */
  keyRotationSteps: { short: 80, long: 150, longest: 1000 },
  /**
   * For how many seconds each target of `fuzz/` is fuzzed, all of them in parallel; 0 tries only
   * seeds and former faults. Most of the planted faults are found in ten.
   */
  fuzzSeconds: { short: 0, long: 30, longest: 600 },
  /** Planted faults for the fuzzer: the quickest first. */
  plantedFaults: { short: 1, long: 4, longest: 99 },
  /** Odd requests to every API of the examples. */
  hostileApiRequests: { short: 30, long: 1000, longest: 3000 },
} as const satisfies Readonly<Record<string, Count>>;

interface Count {
  readonly short: number;
  readonly long: number;
  readonly longest?: number;
}

const { TESTS: asked } = process.env;

/** Whether this is `npm run test:all`, or the longest form: every file, in its long form. */
export const RUNS_ALL = asked === 'all' || asked === 'longest';

/** Whether this is the longest form, for a night. */
export const LONGEST = asked === 'longest';

/** Of several ways to do the same, `npm test` uses the first one. */
export function waysOf<T>(all: readonly T[]): readonly T[] {
  return RUNS_ALL ? all : all.slice(0, 1);
}

type Counts = Readonly<Record<keyof typeof COUNTS, number>>;

const countOf = ({ short, long, longest = long }: Count) =>
  LONGEST ? longest : RUNS_ALL ? long : short;

export const SCALE = Object.fromEntries(
  Object.entries(COUNTS).map(([name, count]) => [name, countOf(count)]),
) as Counts;
