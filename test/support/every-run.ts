import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tools/mutation/every-mutant.ts runs each test many times. */
    everyMutant?: boolean;
  }
}

/** How long to wait for something that a mutant broke, in milliseconds. */
const PATIENCE = 5000;

/**
 * Opens what all tests of a file use, such as a portal, and closes it after the last test. `open`
 * returns the function that closes. If each test runs many times with mutants, every run gets a new
 * one, because a mutant can leave a server behind that no longer works. It is opened between the
 * runs, when no mutant is switched on.
 */
export function openForTests(open: () => Promise<() => Promise<void>>): void {
  let close = async () => {};
  beforeAll(async () => {
    close = await open();
  });
  afterAll(() => close());
  afterEach(async () => {
    if (inject('everyMutant') !== true) return;
    const closed = close().catch(() => undefined);
    await Promise.race([closed, setTimeout(PATIENCE, undefined, { ref: false })]);
    close = await open();
  });
}
