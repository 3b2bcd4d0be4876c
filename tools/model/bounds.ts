/** How large the model is in each check, and which models are broken on purpose. */

/** The constants in Grants.tla. */
export interface Bounds {
  readonly K: number;
  readonly Start: 'code' | 'token';
  readonly Window: boolean;
  readonly MaxLosses: number;
  readonly MaxCrashes: number;
  readonly MaxPauses: number;
  readonly MaxExpiries: number;
  readonly Revokes: boolean;
  readonly Offerers: readonly ('own' | 'other' | 'wrong')[];
  readonly Fault: string;
}

/** The smallest bounds: one request from the client itself, and no other events. */
const LEAST: Bounds = {
  K: 1,
  Start: 'token',
  Window: false,
  MaxLosses: 0,
  MaxCrashes: 0,
  MaxPauses: 0,
  MaxExpiries: 0,
  Revokes: false,
  Offerers: ['own'],
  Fault: 'none',
};

export const bounds = (given: Partial<Bounds>): Bounds => ({ ...LEAST, ...given });

export const INVARIANTS = [
  'OneAnswer',
  'AnsweredIsThere',
  'NothingLivesOnceEnded',
  'NothingAnsweredOnceEnded',
  'RevokedAccessIsDead',
  'NothingWhileSuspended',
  'ReplayIsRefused',
  'NothingSpentUnanswered',
  'NothingLost',
] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Returns the lines of a TLC configuration. */
export function configOf(given: Bounds, nodes: readonly string[] | null = null): readonly string[] {
  const named = nodes === null ? '{n1, n2}' : valueOf(nodes);
  const constants = Object.entries(given).map(([name, value]) => `${name} = ${valueOf(value)}`);
  return ['CONSTANTS', `Nodes = ${named}`, ...constants];
}

function valueOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(valueOf).join(', ')}}`;
  return typeof value === 'boolean' ? String(value).toUpperCase() : JSON.stringify(value);
}

/**
 * Returns the configuration that checks Grants.tla. States that differ only in the names of nodes
 * are the same state.
 */
export const checkedOf = (given: Bounds): readonly string[] => [
  ...configOf(given),
  'SPECIFICATION Spec',
  'SYMMETRY Interchangeable',
  `INVARIANTS ${INVARIANTS.join(' ')}`,
];

const ALL = ['own', 'other', 'wrong'] as const;

/**
 * The bounds that CI checks completely, with every state. The simulation checks the combinations
 * that are in none of them.
 */
export const EXHAUSTIVE: Readonly<Record<string, Bounds>> = {
  'a code, everybody who may offer it': bounds({
    Start: 'code',
    K: 3,
    Offerers: ALL,
    MaxPauses: 1,
  }),
  'three requests at once': bounds({ K: 3, MaxPauses: 1 }),
  'the same with a window': bounds({ K: 3, Window: true, MaxExpiries: 1 }),
  'the store is lost': bounds({ K: 3, MaxLosses: 1 }),
  'the same with a window, and a process is killed': bounds({
    K: 2,
    Window: true,
    MaxLosses: 2,
    MaxCrashes: 1,
    MaxPauses: 1,
  }),
  'a code, the store is lost, a process is killed': bounds({
    Start: 'code',
    K: 2,
    MaxLosses: 2,
    MaxCrashes: 1,
    MaxPauses: 1,
  }),
  'what expires is removed meanwhile': bounds({
    K: 2,
    MaxLosses: 1,
    MaxExpiries: 2,
    Offerers: ALL,
    Revokes: true,
  }),
};

/** The bounds to simulate, each with this many random behaviours. */
export const SIMULATED: Readonly<Record<string, Bounds>> = {
  'without a window': bounds({
    Start: 'code',
    K: 8,
    MaxLosses: 4,
    MaxCrashes: 2,
    MaxPauses: 2,
    MaxExpiries: 2,
    Offerers: ALL,
  }),
  'with a window': bounds({
    K: 8,
    Window: true,
    MaxLosses: 4,
    MaxCrashes: 2,
    MaxPauses: 2,
    MaxExpiries: 2,
  }),
  'with revocations of the client': bounds({
    K: 6,
    Window: true,
    MaxLosses: 2,
    MaxCrashes: 1,
    MaxPauses: 1,
    Revokes: true,
  }),
};

/** A broken model, and the invariant that it violates. */
export interface Broken {
  readonly fault: string;
  readonly violates: Invariant;
  readonly bounds: Bounds;
}

const broken = (fault: string, violates: Invariant, given: Partial<Bounds>): Broken => ({
  fault,
  violates,
  bounds: bounds({ ...given, Fault: fault }),
});

export const BROKEN: readonly Broken[] = [
  broken('the claim trusts what was read', 'OneAnswer', { K: 2 }),
  broken('the revocation takes no lock', 'NothingLivesOnceEnded', { K: 2 }),
  broken('pruning forgets used grants', 'NothingLivesOnceEnded', { K: 2 }),
  broken('a replay ends nothing', 'NothingLivesOnceEnded', { K: 2 }),
  broken('the window answers whoever has an old token', 'OneAnswer', { K: 3, Window: true }),
  broken('the window never closes', 'ReplayIsRefused', { K: 2, Window: true }),
  broken('a lost commit is answered as done', 'AnsweredIsThere', { K: 1, MaxLosses: 1 }),
  broken('a lost commit is only looked for', 'NothingSpentUnanswered', { K: 1, MaxLosses: 1 }),
  broken('a kept answer is not the last word', 'NothingAnsweredOnceEnded', {
    K: 3,
    MaxLosses: 1,
    Window: true,
  }),
  broken('suspension is not asked at use', 'NothingWhileSuspended', { K: 1, MaxPauses: 1 }),
  broken('a token is looked up without its client', 'NothingLivesOnceEnded', {
    K: 1,
    Revokes: true,
  }),
];

/** The bounds of the traces that the tests replay against servers. */
export const TRACED: readonly Bounds[] = [
  bounds({ K: 4, MaxLosses: 2, MaxPauses: 1 }),
  bounds({ K: 4, MaxLosses: 2, MaxCrashes: 1, Window: true }),
  bounds({ K: 4, Window: true, MaxPauses: 1, MaxExpiries: 1 }),
  bounds({ K: 4, Start: 'code', Offerers: ALL, MaxLosses: 1, MaxPauses: 1 }),
  bounds({ K: 4, Start: 'code', MaxLosses: 2, MaxCrashes: 1 }),
  bounds({ K: 3, Revokes: true, MaxLosses: 1 }),
  bounds({ K: 3, MaxExpiries: 1, MaxLosses: 1 }),
  // Few other events make events with a certain order more likely.
  bounds({ K: 2, MaxLosses: 1 }),
  bounds({ K: 3, Window: true }),
  bounds({ K: 3, Window: true, MaxLosses: 1 }),
];
