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
 * endpoint has no goal, because the peer has no such endpoint.
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
