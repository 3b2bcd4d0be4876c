import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openDatabase } from 'portico';
import { Store } from './store.ts';

/** A second process, with a separate store on the same database. */
export interface StoreProcess {
  readonly store: Store;
  close(): Promise<void>;
}

interface Call {
  readonly id: number;
  readonly record: keyof Store;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

type Method = (...given: readonly unknown[]) => Promise<unknown>;

type Outcome =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown };

/** Starts this file as a process. It runs the methods of the store until it is closed. */
export async function startStoreProcess(url: string, folder: string): Promise<StoreProcess> {
  const child = fork(import.meta.filename, [url, folder], {
    serialization: 'advanced',
    execArgv: [],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  child.on('message', (outcome: Outcome) => {
    const call = waiting.get(outcome.id);
    waiting.delete(outcome.id);
    if ('error' in outcome) call?.reject(outcome.error);
    else call?.resolve(outcome.value);
  });
  child.once('exit', (code) => {
    for (const call of waiting.values())
      call.reject(new Error(`The store's process ended with ${code}`));
  });

  function ask(
    record: keyof Store,
    method: string,
    parameters: readonly unknown[],
  ): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    const id = (calls += 1);
    waiting.set(id, answer);
    child.send({ id, record, method, parameters } satisfies Call);
    return answer.promise;
  }

  const methodsOf = (record: keyof Store) =>
    new Proxy(
      {},
      {
        get:
          (_, method: string) =>
          (...parameters: unknown[]) =>
            ask(record, method, parameters),
      },
    );
  const store = new Proxy({} as Store, {
    get: (_, record) => (record === 'then' ? undefined : methodsOf(record as keyof Store)),
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
  const store = new Store(database, () => true);
  process.on('message', ({ id, record, method, parameters }: Call) => {
    const methods = store[record] as unknown as Readonly<Record<string, Method>>;
    methods[method]?.(...parameters).then(
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
