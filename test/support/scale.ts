/**
 * Counts and sizes for tests that have a short form (`npm test`) and a long form (`npm run
 * test:all`). Some have a longest form, too (`npm run test:longest`). A comment may say how soon a
 * test finds a certain fault.
 */
const COUNTS = {
  /**
   * How often one code, and one refresh token, is used at the same time in two processes. If the
   * claim of a code does not record that it was used, the second round finds two responses.
   */
  raceRounds: { short: 8, long: 40, longest: 1000 },
  /**
   * How often browsers of two processes open the same pushed request at the same time. If each gets
   * its own question, the first round finds it.
   */
  pushedRounds: { short: 10, long: 25, longest: 1000 },
  /**
   * Rounds in which two processes poll with the same device code at the same time. If a poll does
   * not claim the code, the second round finds two responses.
   */
  deviceRounds: { short: 10, long: 60, longest: 1000 },
  /**
   * Rounds in which one refresh token is used five times at the same time, with a window. If a late
   * use only checks for a replay, the first round finds an authorization that has ended.
   */
  retryRounds: { short: 20, long: 40, longest: 1000 },
  /**
   * Rounds in which two processes do different things to the same authorization. If the claim of a
   * refresh ignores the revocation, the first round finds it.
   */
  mixedRaceRounds: { short: 5, long: 12, longest: 100 },
  /**
   * Rounds in which everything that a person allowed is ended, while two processes refresh,
   * exchange codes and accept the person's answer. If waiting requests are not ended, the second
   * round finds it.
   */
  accessRounds: { short: 4, long: 10, longest: 400 },
  /**
   * Rounds in which access ends while two processes begin more of it without a question. If the
   * remembered authorization is not locked, or is not looked for again, the first twenty find it.
   */
  rememberedRounds: { short: 20, long: 60, longest: 600 },
  /**
   * Random runs of clients, people and operators, for each choice of lifetimes (docs/assurance.md
   * says how many find a fault).
   */
  statefulRuns: { short: 4, long: 20, longest: 1500 },
  /**
   * Rounds in which one process changes a client while another process uses it. If a use relies on
   * data that was read before the change, the first round finds it. If one of two updates is lost,
   * the first round also finds it.
   */
  updateRounds: { short: 2, long: 10, longest: 200 },
  /** Messages in the outbox. They are delivered while processes are killed. */
  outboxMessages: { short: 400, long: 1200, longest: 10_000 },
  /**
   * How often a server process is killed under load. If it responds before it commits, the first
   * round finds it.
   */
  kills: { short: 3, long: 6, longest: 50 },
  /** The same, with a window in which a refresh may be repeated. */
  retryKills: { short: 2, long: 5, longest: 30 },
  /** How often a database server is stopped under load. */
  outages: { short: 1, long: 2, longest: 3 },
  /** The connections of the server: only its own, or also those of the application's pool. */
  outageStores: { short: 1, long: 2 },
  /** How often two processes and their database server are killed while a history is recorded. */
  historyRounds: { short: 1, long: 3 },
  /** The same, with a window in which a refresh may be repeated. */
  windowHistoryRounds: { short: 1, long: 1, longest: 3 },
  /** Uses whose statement is lost while a third transaction changes the row for which they wait. */
  lostUses: { short: 8, long: 25, longest: 60 },
  /**
   * MCP calls in each mount and mode whose memory is measured. Other paths get a share of this
   * number.
   */
  soakedCalls: { short: 120, long: 120, longest: 6000 },
  /**
   * Authorizations that move between the nodes of a cluster. Four times in each, one node reads
   * what another node has written.
   */
  clusterAuthorizations: { short: 120, long: 120, longest: 2000 },
  /** How often each fault of a replicated database happens under load. */
  clusterFaults: { short: 1, long: 1, longest: 8 },
  /**
   * How long a node is separated from its cluster and still receives requests, in seconds. A code
   * is valid for 60 seconds.
   */
  cutOffFor: { short: 5, long: 5, longest: 270 },
  /** Faults that a person on call must identify: the first three, or all of them. */
  faultsOnCall: { short: 3, long: 99 },
  /** How many times five people sign in while one network sends very many sign-ins. */
  floodedSignIns: { short: 1, long: 3 },
  /** The memory for a slow hash, in KiB. In the long form, it is the kit's own value. */
  slowHashMemory: { short: 16_384, long: 47_104 },
  /**
   * Combinations of light or dark with phone or desktop. There are either two that cover all four
   * values, or all combinations.
   */
  looks: { short: 2, long: 4 },
  /** Languages in which the pages are checked. Each uses another width and other colors. */
  lookedAtLanguages: { short: 1, long: 4 },
  /** Languages in which the pages are checked at 200 %. */
  zoomedLanguages: { short: 1, long: 2, longest: 8 },
  /** Pages of the site that are checked. */
  sitePages: { short: 1, long: 3, longest: 5 },
  /** Looks in which the administration pages are checked. There are many of these pages. */
  administrationLooks: { short: 1, long: 2, longest: 4 },
  /** Applications that are compiled. Each has another framework installed. */
  compiledApplications: { short: 1, long: 8 },
  /** Ways to compile an application to CommonJS. */
  commonJsModes: { short: 1, long: 3, longest: 6 },
  /** Bundlers for an application: only the bundler of the build, or all of them. */
  bundlers: { short: 1, long: 3 },
  /**
   * Clients that connect with only a URL: one client, or all of them. Three of these must be built
   * first.
   */
  bareClients: { short: 1, long: 99 },
  /** Clients in other languages that authenticate. Each must be installed first. */
  clientPrograms: { short: 0, long: 99 },
  /** Programs on the pages about mounting that are run. */
  documentedPrograms: { short: 2, long: 20 },
  /** Mounts in the soak test: the kit, one mount for each way to mount, or all mounts. */
  soakedMounts: { short: 1, long: 4, longest: 99 },
  /**
   * Applications behind proxies that remove a base path or keep it: the kit, Express and bare Node,
   * or all applications.
   */
  basePathStacks: { short: 1, long: 99 },
  /**
   * Combinations of the other options, for each option of client authentication and token binding.
   */
  otherSwitches: { short: 1, long: 6, longest: 12 },
  /** Odd paths that are similar to the path of an endpoint. */
  oddPaths: { short: 60, long: 4000, longest: 20_000 },
  /**
   * Requests with secrets in wrong places. If client ids of strangers are logged unchanged, the
   * first hundred finds it.
   */
  plantedSecrets: { short: 150, long: 2000, longest: 10_000 },
  /**
   * Odd requests to every endpoint of the server and the kit. The rarest required response is one
   * in 200.
   */
  hostileRequests: { short: 40, long: 1500, longest: 10_000 },
  /** The same on a database server. */
  hostileRequestsOnServers: { short: 40, long: 200, longest: 10_000 },
  /**
   * Assertions that are wrong or only just valid. If one of two audiences is enough, the seventh
   * hundred finds it.
   */
  hostileAssertions: { short: 30, long: 1000 },
  /**
   * Rounds in which one assertion is presented four times at the same time, to two processes. If
   * its use is looked up first and written later, the first round finds two that are accepted.
   */
  assertionRounds: { short: 25, long: 100, longest: 1000 },
  /** Unusual proofs of possession, for each place that checks proofs. */
  hostileProofs: { short: 8, long: 250, longest: 10_000 },
  /**
   * Rounds of eight odd requests whose metrics are checked. If data of a request becomes an
   * attribute, the first round finds it.
   */
  hostileMeasured: { short: 6, long: 300, longest: 1000 },
  /**
   * Steps of up to five minutes in which two processes rotate their keys and sign. If a new key
   * signs at once, the first rotation finds it.
   */
  keyRotationSteps: { short: 80, long: 150, longest: 1000 },
  /**
   * How long each target of `fuzz/` is fuzzed, in seconds. All of them run at the same time. With
   * 0, only seeds and former faults are tried. Most of the planted faults are found in ten seconds.
   */
  fuzzSeconds: { short: 0, long: 30, longest: 600 },
  /** Planted faults for the fuzzer. Those that are found fastest come first. */
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

/**
 * Whether this is `npm run test:all` or the longest form. Then all files run, in their long form.
 */
export const RUNS_ALL = asked === 'all' || asked === 'rest' || asked === 'longest';

/** Whether this is `npm run test:rest`: everything that `npm test` does not run. */
export const RUNS_REST = asked === 'rest';

/** Whether this is the longest form, which takes a whole night. */
export const LONGEST = asked === 'longest';

/** Returns the ways to test the same thing. `npm test` uses only the first one. */
export function waysOf<T>(all: readonly T[]): readonly T[] {
  return RUNS_ALL ? all : all.slice(0, 1);
}

type Counts = Readonly<Record<keyof typeof COUNTS, number>>;

const countOf = ({ short, long, longest = long }: Count) =>
  LONGEST ? longest : RUNS_ALL ? long : short;

export const SCALE = Object.fromEntries(
  Object.entries(COUNTS).map(([name, count]) => [name, countOf(count)]),
) as Counts;
