import type { Measured } from './measure.ts';
import { figure, percent, times } from './print.ts';

/** The goal of a row, and whether it is reached. */
export interface Verdict {
  readonly target: string;
  readonly reached: boolean;
}

/**
 * One work in one run: the figures of Portico, of the peer and of the bare limit, and the rate of
 * bare signatures.
 */
export interface Row {
  readonly ours: Measured | undefined;
  readonly peer: Measured | undefined;
  readonly limit: Measured | undefined;
  readonly signatures: number | null;
}

type Goal = (row: Row) => Verdict | null;

/** If the peer uses less than this share of its core, it mostly waits for its disk. */
const BUSY = 0.8;

const timesThePeer =
  (least: number, leastOnSlowDisk = least): Goal =>
  ({ ours, peer }) => {
    if (ours === undefined || peer === undefined) return null;
    const needed = (peer.busy ?? 1) < BUSY ? leastOnSlowDisk : least;
    return {
      target: `${times(needed)}${needed === least ? '' : ', the disk being the limit'}`,
      reached: ours.perSecond >= needed * peer.perSecond,
    };
  };

const shareOfSignatures =
  (least: number): Goal =>
  ({ ours, signatures }) => {
    if (ours === undefined || signatures === null) return null;
    return {
      target: `${percent(least)} of ${figure(signatures)} signatures: ${percent(ours.perSecond / signatures)}`,
      reached: ours.perSecond >= least * signatures,
    };
  };

const shareOfLimit =
  (least: number): Goal =>
  ({ ours, limit }) => {
    if (ours === undefined || limit === undefined) return null;
    return {
      target: `${percent(least)} of the bare limit`,
      reached: ours.perSecond >= least * limit.perSecond,
    };
  };

/** The goals by work. A work without an entry has no goal. */
export const GOALS: Readonly<Record<'SQLite' | 'PostgreSQL', Readonly<Record<string, Goal>>>> = {
  SQLite: {
    'client-credentials token': timesThePeer(4, 6),
    introspection: timesThePeer(3),
    'refresh, no ID token': timesThePeer(4, 6),
    'refresh with ID token, RS256': shareOfSignatures(0.85),
    'refresh with ID token, ES256': timesThePeer(3),
    'whole authorization': timesThePeer(4, 6),
    UserInfo: timesThePeer(3),
    'protected endpoint': shareOfLimit(0.75),
  },
  PostgreSQL: {
    'client-credentials token': timesThePeer(2),
    introspection: timesThePeer(2),
    'refresh, no ID token': timesThePeer(2),
    'refresh with ID token, ES256': timesThePeer(2),
    'whole authorization': timesThePeer(2),
    UserInfo: timesThePeer(2),
  },
};

/**
 * The goal for the 99th percentile at 50 connections, for memory and for the start. The protected
 * endpoint has no goal, because the peer does not have such an endpoint.
 */
export function atMost(
  share: number,
  ours: number | undefined,
  peer: number | undefined,
): Verdict | null {
  if (ours === undefined || peer === undefined) return null;
  return { target: `at most ${percent(share)}`, reached: ours <= share * peer };
}

export function cellsOf(verdict: Verdict | null): readonly [target: string, reached: string] {
  return verdict === null ? ['-', '-'] : [verdict.target, verdict.reached ? 'yes' : '**no**'];
}

/** The figures of one run that the goals against compiled servers need. */
export interface Run {
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** The works at each number of connections. The last one has the most connections. */
  readonly tables: readonly {
    readonly connections: number;
    readonly lines: ReadonlyMap<
      string,
      { readonly by: ReadonlyMap<string, Measured>; readonly signatures: number | null }
    >;
  }[];
  /** The peak memory in MiB, and the time from the start to the first response in ms, by target. */
  readonly memory: ReadonlyMap<string, number>;
  readonly starts: ReadonlyMap<string, number>;
}

/** A goal that needs several columns of the tables, and its measured value. */
export interface Compared {
  readonly name: string;
  readonly goal: string;
  readonly measured: string;
  readonly reached: boolean;
}

const COMPARED_WORKS = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'refresh with ID token, RS256',
  'UserInfo',
] as const;

/** How many times as fast as a target Portico must be, and in which works. */
const RATES: readonly {
  readonly target: string;
  readonly least: number;
  readonly works: readonly string[];
  readonly engines: readonly Run['engine'][];
}[] = [
  {
    target: 'zitadel-oidc',
    least: 1,
    works: COMPARED_WORKS,
    engines: ['SQLite', 'PostgreSQL'],
  },
  { target: 'spring', least: 2, works: COMPARED_WORKS, engines: ['PostgreSQL'] },
  {
    target: 'oidc-provider',
    least: 3,
    works: ['introspection', 'UserInfo'],
    engines: ['SQLite', 'PostgreSQL'],
  },
  {
    target: 'bare',
    least: 0.8,
    works: ['protected endpoint'],
    engines: ['SQLite', 'PostgreSQL'],
  },
];

/** The targets whose 99th percentile Portico must not exceed. */
const PEERS = ['zitadel-oidc', 'spring'] as const;
const SIGNED = { work: 'refresh with ID token, RS256', least: 0.9 };
const START = 60;

/** Returns the goals against compiled servers, as far as their targets were measured. */
export function comparedWith(run: Run): readonly Compared[] {
  return [
    ...run.tables.flatMap((table) => ratesIn(run, table)),
    ...percentilesIn(run),
    ...footprintOf(run),
  ];
}

function ratesIn(
  { engine }: Run,
  { connections, lines }: Run['tables'][number],
): readonly Compared[] {
  const named = (work: string) => `${work}, ${connections} connections`;
  const compared = RATES.filter(({ engines }) => engines.includes(engine)).flatMap(
    ({ target, least, works }) =>
      works.flatMap((work) => {
        const by = lines.get(work)?.by;
        const [ours, other] = [by?.get('portico')?.perSecond, by?.get(target)?.perSecond];
        if (ours === undefined || other === undefined) return [];
        const [goal, measured] = [`${times(least)} ${target}`, ours / other];
        const reached = measured >= least;
        return [{ name: named(work), goal, measured: times(measured), reached }];
      }),
  );
  const { by, signatures = null } = lines.get(SIGNED.work) ?? {};
  const ours = by?.get('portico')?.perSecond;
  if (ours === undefined || signatures === null) return compared;
  const share = ours / signatures;
  return [
    ...compared,
    {
      name: named(SIGNED.work),
      goal: `${percent(SIGNED.least)} of ${figure(signatures)} signatures`,
      measured: percent(share),
      reached: share >= SIGNED.least,
    },
  ];
}

function percentilesIn({ tables }: Run): readonly Compared[] {
  const { connections, lines } = tables.at(-1) ?? { connections: 0, lines: new Map() };
  return COMPARED_WORKS.flatMap((work) =>
    PEERS.flatMap((target) => {
      const by = lines.get(work)?.by as ReadonlyMap<string, Measured> | undefined;
      const [ours, other] = [by?.get('portico')?.p99, by?.get(target)?.p99];
      if (ours === undefined || other === undefined) return [];
      return [
        {
          name: `${work}, 99th percentile, ${connections} connections`,
          goal: `at most that of ${target}: ${other.toFixed(1)} ms`,
          measured: `${ours.toFixed(1)} ms`,
          reached: ours <= other,
        },
      ];
    }),
  );
}

function footprintOf({ memory, starts }: Run): readonly Compared[] {
  const [ours, peer, start] = [
    memory.get('portico-serve'),
    memory.get('oidc-provider'),
    starts.get('portico'),
  ];
  const compared: Compared[] = [];
  if (ours !== undefined && peer !== undefined)
    compared.push({
      name: 'peak memory of portico-serve',
      goal: `half of oidc-provider's ${peer.toFixed(0)} MiB`,
      measured: `${ours.toFixed(0)} MiB`,
      reached: ours <= peer / 2,
    });
  if (start !== undefined)
    compared.push({
      name: 'start of portico to its first response',
      goal: `${START} ms`,
      measured: `${start.toFixed(0)} ms`,
      reached: start <= START,
    });
  return compared;
}
