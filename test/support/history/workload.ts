/**
 * Lets clients and people use the processes of a server at the same time, and records the history
 * of their responses. Meanwhile, a scenario breaks something:
 *
 *     // Registers clients and signs people in.
 *     const portal = await startPortal({ databaseServer });
 *     const workload = await startWorkload({ portal, urls: [one, other] });
 *     // Waits for 200 more responses.
 *     await workload.answered(200);
 *     await node.kill();
 *     // Waits for ten more requests that got 503, were cut off or found no connection.
 *     await workload.unavailable(10);
 *     await node.restart();
 *     await workload.answered(200);
 *     // Checks all valid tokens once more.
 *     const verdict = await workload.stop();
 *     process.stdout.write(`${verdict.line}\n`);
 *     // The texts describe each violation and its operations, and each 500 response.
 *     expect(verdict.texts).toEqual([]);
 *
 * `urls` are the base URLs of the processes, in any order. A request that gets 503 is repeated
 * until it gets another response. The portal registers and revokes clients, as the console does,
 * and signs people in before anything is broken. It does not have to be one of the processes.
 */
import { createRandom } from '../random.ts';
import { ADA, GRACE, registerClient, type RunningPortal, type TestClient } from '../portal.ts';
import type { Visitor } from '../visitor.ts';
import { createAsking, type Asking, type AsksAgain, type Family, type Held } from './asking.ts';
import type { Lifetimes } from '../stateful/grants.ts';
import type { AfterUnavailable } from './checker.ts';
import { createRecorder, type Ending, type Operation } from './recorder.ts';
import { judge, type Verdict } from './report.ts';

export interface WorkloadOptions {
  readonly portal: RunningPortal;
  readonly urls: readonly string[];
  /* The seed for the choices of the clients. Their timing still differs in each run. */
  readonly seed?: number;
  /** How many clients work at the same time. */
  readonly clients?: number;
  /* Which process gets a repeated request. By default, any process. */
  readonly asksAgain?: AsksAgain;
  readonly afterUnavailable?: AfterUnavailable;
  /* The lifetimes for the model. By default, only codes expire, and a used refresh token is a
      replay. */
  readonly lifetimes?: Lifetimes;
}

export interface Workload {
  /** Waits until this many more operations were answered. */
  answered(count: number): Promise<void>;
  /* Waits until this many more operations got 503, were cut off or found no connection. */
  unavailable(count: number): Promise<void>;
  /* Waits until this many more authorizations have ended. */
  authorizations(count: number): Promise<void>;
  /* Waits for all operations, checks the valid tokens once more, and compares the history with the
      model. */
  stop(): Promise<WorkloadVerdict>;
}

export interface WorkloadVerdict extends Verdict {
  readonly operations: readonly Operation[];
}

/* A client and its person. */
interface Actor {
  readonly visitor: Visitor;
  client: TestClient;
  revoked: boolean;
  /* The authorizations that it still uses. */
  families: Family[];
}

/** The most authorizations of a client at one time, and the most tokens of an authorization. */
const MOST = { families: 4, tokens: 6 };

export async function startWorkload(options: WorkloadOptions): Promise<Workload> {
  const {
    portal,
    urls,
    clients = 6,
    asksAgain = 'any process',
    afterUnavailable = 'not spent',
  } = options;
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const random = createRandom(seed);
  const recorder = createRecorder();
  const inspector = await registerClient(portal, {
    redirectUris: [],
    scopes: [],
    grants: ['introspection'],
  });
  const progress = createProgress();
  const asking = createAsking({
    asksAgain,
    portal,
    urls,
    inspector,
    recorder,
    random,
    heard: (ending) => progress.heard(ending),
  });
  const until = { stopping: false };

  async function newClient(): Promise<TestClient> {
    for (;;) {
      try {
        return await registerClient(portal, { public: true });
      } catch (error) {
        if (!portal.application.database.isUnavailable(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  async function work(actor: Actor): Promise<void> {
    while (!until.stopping) {
      const { families, visitor } = actor;
      if (families.length === 0 || (families.length < MOST.families && random() < 0.2)) {
        const decision = random() < 0.1 ? 'deny' : 'allow';
        const family = await asking.authorize(visitor, actor.client, decision);
        if (family !== null) families.push(family);
        continue;
      }
      await act(asking, random, actor);
      const left = families.filter(({ over, tokens }) => over || tokens.length >= MOST.tokens);
      for (const family of left) {
        await examine(asking, urls, family);
        progress.count('authorizations');
      }
      actor.families = families.filter((family) => !left.includes(family));
      if (actor.revoked) Object.assign(actor, { client: await newClient(), revoked: false });
    }
    for (const family of actor.families) await examine(asking, urls, family);
  }

  const actors: Actor[] = [];
  // Sign in one after another, because the server treats many sign-ins to one account at the same
  // time as guesses.
  for (let index = 0; index < clients; index += 1) {
    const visitor = await portal.signedIn(index % 2 === 0 ? ADA : GRACE);
    actors.push({ visitor, client: await newClient(), revoked: false, families: [] });
  }
  const working = Promise.all(actors.map(work));
  working.catch((error: unknown) => progress.failed(error));

  return {
    answered: (count) => progress.reaches('answered', count),
    unavailable: (count) => progress.reaches('unavailable', count),
    authorizations: (count) => progress.reaches('authorizations', count),
    async stop() {
      until.stopping = true;
      await working;
      const operations = recorder.operations();
      const { texts, line, broken } = judge(operations, afterUnavailable, options.lifetimes);
      const faults = Object.entries(asking.faults);
      const other = faults.reduce((sum, [, times]) => sum + times, 0);
      return {
        broken,
        texts: [...texts, ...faults.map(([what, times]) => `${times} times ${what}`)],
        line: `seed ${seed}: ${line}, other 5xx: ${other}`,
        operations,
      };
    },
  };
}

/* Does one operation, or several simultaneous ones, with one of the client's authorizations. */
async function act(asking: Asking, random: () => number, actor: Actor): Promise<void> {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const family = pick(actor.families);
  const newest = family.tokens.at(-1);
  if (newest === undefined) {
    const times = random() < 0.15 ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => asking.use(family, null)));
    return;
  }
  const { visitor, client, families } = actor;
  const any = () => pick(family.tokens);
  const refresh = (token: Held = newest) => asking.use(family, token);
  const look = () => asking.look(family, any());
  const revokeClient = () => {
    actor.revoked = true;
    return asking.revokeClient(client, families);
  };
  const mix: readonly (readonly [number, () => readonly Promise<void>[]])[] = [
    [25, () => [refresh()]],
    [20, () => [refresh(), look()]],
    [18, () => [look(), look()]],
    [6, () => [refresh(), refresh()]],
    [4, () => [refresh(), refresh(), look()]],
    [6, () => [refresh(any()), look()]],
    [6, () => [asking.revoke(family, any()), look()]],
    [6, () => [asking.revoke(family, any()), refresh()]],
    [5, () => [asking.revokeAccess(family, any()), look()]],
    [3, () => [asking.remove(visitor, client, families), look()]],
    [3, () => [revokeClient(), refresh()]],
  ];
  let draw = random() * mix.reduce((sum, [weight]) => sum + weight, 0);
  const drawn = mix.find(([weight]) => (draw -= weight) < 0);
  await Promise.all(drawn?.[1]() ?? []);
}

/* Looks up the newest access token in every process, and uses the newest refresh token. This shows
   whether a token was lost, or works after its end. */
async function examine(asking: Asking, urls: readonly string[], family: Family): Promise<void> {
  const newest = family.tokens.at(-1);
  if (newest !== undefined) await Promise.all(urls.map((url) => asking.look(family, newest, url)));
  await asking.use(family, newest ?? null);
  const last = family.tokens.at(-1);
  if (last !== undefined) await asking.look(family, last);
}

/** Counts responses. A test can wait for a number of them. */
function createProgress() {
  const counts = { answered: 0, unavailable: 0, authorizations: 0 };
  const waiting = new Set<() => void>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  function count(what: keyof typeof counts): void {
    counts[what] += 1;
    for (const look of waiting) look();
  }
  return {
    failed: failure.reject,
    count,
    heard(ending: Ending | null): void {
      const isAnswer = ending !== null && ending !== 'unavailable' && ending !== 'lost';
      count(isAnswer ? 'answered' : 'unavailable');
    },
    async reaches(what: keyof typeof counts, more: number): Promise<void> {
      const goal = counts[what] + more;
      const there = Promise.withResolvers<void>();
      const look = () => {
        if (counts[what] >= goal) there.resolve();
      };
      waiting.add(look);
      look();
      await Promise.race([there.promise, failure.promise]).finally(() => waiting.delete(look));
    },
  };
}
