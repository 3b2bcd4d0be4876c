import type { Asked, Ending, Operation } from './recorder.ts';

/** The faults that a simulated server sometimes has. */
export interface Faults {
  readonly answersTwice?: boolean;
  readonly readsOld?: boolean;
  readonly losesRevocations?: boolean;
  readonly losesTokens?: boolean;
  readonly ignoresReplays?: boolean;
  readonly spendsUnavailable?: boolean;
}

interface Pending {
  readonly operation: Operation;
  readonly answer: Ending | null;
}

const FAMILY = 'family';
const EVENTS = 90;

/**
 * Simulates one authorization. The server handles one request at a time, correctly except for the
 * faults. Clients send several requests at the same time. Each request takes effect between its
 * begin and its end. A request that gets 503 or no response may take effect later, or never. A use
 * that gets 503 does not use up the value.
 */
export function simulate(random: () => number, faults: Faults): readonly Operation[] {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T;
  const seldom = (fault: boolean | undefined) => fault === true && random() < 0.5;
  const done: Operation[] = [];
  let [now, count, pending] = [0, 0, [] as readonly Pending[]];
  /** The server's state: the valid tokens, and whether the authorization is still active. */
  const server = {
    isAllowed: false,
    isSpent: false,
    current: '',
    living: new Set<string>(),
    isRevoked: false,
  };
  /** The tokens that the clients have received. */
  const [held, client] = [[] as string[], { hasCode: false }];

  function issue(name: string): 200 {
    if (seldom(faults.losesTokens)) return 200;
    server.current = name;
    server.living.add(name);
    return 200;
  }

  function replay(): 400 {
    if (!seldom(faults.ignoresReplays)) server.isRevoked = true;
    return 400;
  }

  function take(request: Asked): Ending {
    switch (request.kind) {
      case 'allow':
        if (server.isAllowed) return 400;
        server.isAllowed = true;
        return 200;
      case 'exchange':
        if (server.isSpent) return replay();
        if (server.isRevoked) return 400;
        server.isSpent = true;
        return issue(request.name);
      case 'refresh':
        if (request.token !== server.current && !seldom(faults.answersTwice)) return replay();
        return server.isRevoked ? 400 : issue(request.name);
      case 'revoke':
      case 'remove':
        if (server.isAllowed && !seldom(faults.losesRevocations)) server.isRevoked = true;
        return 200;
      case 'revoke access':
        server.living.delete(request.token);
        return 200;
      case 'look':
        return server.living.has(request.token) && (!server.isRevoked || seldom(faults.readsOld))
          ? 'good'
          : 'dead';
      case 'deny':
      case 'revoke client':
        break;
    }
    throw new Error(`No request of this kind is simulated: ${request.kind}`);
  }

  function next(): Asked {
    const own = { family: FAMILY, as: 'client', fault: 'none', name: String(count + 1) } as const;
    if (!client.hasCode) return { kind: 'allow', family: FAMILY, client: 'client' };
    const newest = held.at(-1);
    if (newest === undefined) return { kind: 'exchange', ...own };
    const token = random() < 0.95 ? newest : pick(held);
    const isInUse = pending.some(({ operation }) => operation.request.kind === 'refresh');
    // Mostly send one use at a time, because the first replay ends the authorization.
    const draw = isInUse && random() < 0.9 ? 0.5 : random();
    if (draw < 0.45) return { kind: 'refresh', ...own, token };
    if (draw < 0.88) return { kind: 'look', token };
    if (draw < 0.93) return { kind: 'revoke', ...own, token };
    if (draw < 0.96) return { kind: 'remove', client: 'client' };
    return { kind: 'revoke access', token, as: 'client' };
  }

  function isReplay(request: Asked): boolean {
    if (request.kind === 'exchange') return server.isSpent;
    return request.kind === 'refresh' && request.token !== server.current;
  }

  function end({ operation, answer }: Pending): void {
    const { request } = operation;
    done.push({ ...operation, end: now, answer: answer ?? 'lost' });
    if (answer !== 200) return;
    if (request.kind === 'allow') client.hasCode = true;
    if (request.kind === 'exchange' || request.kind === 'refresh') held.push(request.name);
  }

  /** Ends an operation without its response. It takes effect now, later or never. */
  function giveUp({ operation, answer }: Pending): void {
    const { request, id } = operation;
    const isUse = ['allow', 'exchange', 'refresh'].includes(request.kind) && !isReplay(request);
    const isUnavailable = answer === null && random() < 0.5;
    if (isUnavailable && isUse && seldom(faults.spendsUnavailable)) take(request);
    else if (answer === null && random() < 0.5 && !(isUnavailable && isUse)) late.push(request);
    done.push({ ...operation, id, end: now, answer: isUnavailable ? 'unavailable' : 'lost' });
  }
  const late: Asked[] = [];

  for (let event = 0; event < EVENTS || pending.length > 0; event += 1) {
    now += 1;
    if (event < EVENTS && pending.length < 3 && random() < 0.35) {
      count += 1;
      const asked = {
        id: count,
        request: next(),
        families: [FAMILY],
        node: `node ${1 + below(2)}`,
        by: 'simulation',
      };
      pending = [
        ...pending,
        { operation: { ...asked, begin: now, end: Infinity, answer: 'lost' }, answer: null },
      ];
      continue;
    }
    if (late.length > 0 && random() < 0.2) take(late.splice(below(late.length), 1)[0] as Asked);
    if (pending.length === 0) continue;
    const one = pick(pending);
    const others = pending.filter((each) => each !== one);
    if (random() < 0.1) {
      giveUp(one);
      pending = others;
    } else if (one.answer === null) {
      pending = [...others, { ...one, answer: take(one.operation.request) }];
    } else {
      end(one);
      pending = others;
    }
  }
  return done.toSorted((first, second) => first.id - second.id);
}
