import fc from 'fast-check';
import { CODE_FAULTS, REFRESH_FAULTS } from './grants.ts';

/**
 * The parts of runs. Numbers choose among the things that exist at that time. Therefore a run still
 * makes sense after fast-check has shortened it.
 */

const any = fc.nat({ max: 99 });
const seldom = fc.oneof(
  { weight: 9, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const fault = fc.oneof(
  { weight: 8, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constantFrom('away' as const, 'lost before' as const, 'lost after' as const),
      staysFor: fc.constantFrom(null, 0, 0, 2),
    }),
  },
);
const secret = fc.oneof(
  { weight: 12, arbitrary: fc.constant('current' as const) },
  { weight: 1, arbitrary: fc.constantFrom('previous' as const, 'wrong' as const) },
);
const proof = fc.oneof(
  { weight: 8, arbitrary: fc.constant('own' as const) },
  { weight: 1, arbitrary: fc.constantFrom('other' as const, 'none' as const) },
);

const connect = fc.record({
  does: fc.constant('connect' as const),
  client: any,
  person: any,
  scope: any,
  node: any,
  goesTo: fc.constantFrom('screen' as const, 'code' as const, 'tokens' as const, 'tokens' as const),
  allows: mostly(true, false),
});
const exchange = fc.record({
  does: fc.constant('exchange' as const),
  family: any,
  node: any,
  byOther: seldom,
  wrong: mostly<(typeof CODE_FAULTS)[number]>('none', ...CODE_FAULTS),
  secret,
  proof,
  fault,
});
const refresh = fc.record({
  does: fc.constant('refresh' as const),
  family: any,
  /** The age of the chosen one. 0 is the newest. */
  age: mostly(0, 1, 2, 5),
  node: any,
  byOther: seldom,
  wrong: mostly<(typeof REFRESH_FAULTS)[number]>('none', ...REFRESH_FAULTS),
  variant: any,
  scope: mostly<number | null>(null, 0, 1, 2, 3, 4),
  secret,
  proof,
  fault,
});
const revoke = fc.record({
  does: fc.constant('revoke' as const),
  what: fc.constantFrom('refresh' as const, 'refresh' as const, 'access' as const, 'code' as const),
  family: any,
  age: mostly(0, 1, 2),
  node: any,
  byOther: seldom,
  wrong: mostly<(typeof REFRESH_FAULTS)[number]>('none', ...REFRESH_FAULTS),
  variant: any,
  secret,
  fault,
});
const numbered = <T extends string>(...kinds: readonly T[]) =>
  fc.record({ does: fc.constantFrom(...kinds), one: any, two: any, node: any });
/** Two uses of the same code or token: by the authorization's own client, and by another client. */
const rivals = fc.oneof(exchange, refresh).map((one) => [one, { ...one, byOther: !one.byOther }]);
const together = fc
  .oneof(
    // Use the current token twice at the same time. Random choices would rarely do this, because
    // the current token is one of twenty.
    {
      weight: 2,
      arbitrary: refresh.map((one) => [{ ...one, age: 0, byOther: false, wrong: 'none' as const }]),
    },
    { weight: 1, arbitrary: fc.oneof(exchange, refresh).map((one) => [one]) },
    { weight: 1, arbitrary: rivals },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.array(fc.oneof(exchange, refresh, revoke), { minLength: 1, maxLength: 2 }),
          fc.oneof(
            refresh,
            numbered('prune', 'revoke client', 'revoke authorization', 'introspect'),
          ),
        )
        .map(([some, one]) => [...some, one]),
    },
  )
  .map((all) => ({ does: 'together' as const, all: all.length === 1 ? [...all, ...all] : all }));

export const intent = fc.oneof(
  { weight: 14, arbitrary: connect },
  { weight: 6, arbitrary: numbered('reply') },
  { weight: 12, arbitrary: exchange },
  { weight: 26, arbitrary: refresh },
  { weight: 8, arbitrary: together },
  { weight: 5, arbitrary: revoke },
  { weight: 5, arbitrary: numbered('own token', 'own token', 'end own token') },
  { weight: 5, arbitrary: numbered('userinfo', 'api', 'introspect', 'introspect as client') },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('time' as const), passes: any }) },
  { weight: 3, arbitrary: numbered('new client') },
  {
    weight: 7,
    arbitrary: numbered('narrow', 'widen', 'no refresh', 'refresh again', 'robot', 'rotate secret'),
  },
  { weight: 6, arbitrary: numbered('suspend', 'restore', 'take', 'give') },
  {
    weight: 4,
    arbitrary: numbered(
      'revoke client',
      'revoke authorization',
      'revoke person',
      'erase person',
      'take back',
    ),
  },
  { weight: 5, arbitrary: numbered('prune', 'list', 'list', 'rotate keys', 'restart') },
);
export type Intent = typeof intent extends fc.Arbitrary<infer T> ? T : never;
