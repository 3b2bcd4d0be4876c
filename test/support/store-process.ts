import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openDatabase } from 'portico/host';
import { createSqlStore } from '../../src/oauth-server/store/sql/index.ts';
import type { Store } from '../../src/oauth-server/store/store.ts';

/** A second process with its own store on the same database. */
export interface StoreProcess {
  readonly store: Store;
  close(): Promise<void>;
}

interface Call {
  readonly id: number;
  readonly method: keyof Store;
  readonly parameters: readonly unknown[];
}

type Outcome =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: unknown };

/** Starts this file as a process, which runs the store's methods until it is closed. */
export async function startStoreProcess(url: string, folder: string): Promise<StoreProcess> {
  const child = fork(import.meta.filename, [url, folder], { serialization: 'advanced', execArgv: [] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  child.on('message', (outcome: Outcome) => {
    const call = waiting.get(outcome.id);
    waiting.delete(outcome.id);
    if ('error' in outcome) call?.reject(outcome.error);
    else call?.resolve(outcome.value);
  });
  child.once('exit', (code) => {
    for (const call of waiting.values()) call.reject(new Error(`The store's process ended with ${code}`));
  });

  function ask(method: keyof Store, parameters: readonly unknown[]): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    const id = (calls += 1);
    waiting.set(id, answer);
    child.send({ id, method, parameters } satisfies Call);
    return answer.promise;
  }

  const store = new Proxy({} as Store, {
    get: (_, method) =>
      method === 'then' ? undefined : (...parameters: unknown[]) => ask(method as keyof Store, parameters),
  });
  return {
    store,
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function answerCalls(url: string, folder: string): void {
  const database = openDatabase(url, { directory: folder });
  const store = createSqlStore(database, () => true);
  process.on('message', ({ id, method, parameters }: Call) => {
    const work = store[method] as (...given: readonly unknown[]) => Promise<unknown>;
    work(...parameters).then(
      (value) => process.send?.({ id, value } satisfies Outcome),
      (error: unknown) => process.send?.({ id, error } satisfies Outcome),
    );
  });
  process.once('disconnect', () => void database.close());
}

if (import.meta.main) {
  const [url = '', folder = ''] = process.argv.slice(2);
  answerCalls(url, folder);
}
