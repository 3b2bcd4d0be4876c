import type { TestProject } from 'vitest/node';
import type { Engine } from './database-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** An administrator's URL of the database server under test; absent on SQLite. */
    databaseServer?: string;
  }
}

/** Starts the engine for a test project; what is returned ends it. */
export async function provideServer(project: TestProject, engine: Engine): Promise<() => Promise<void>> {
  const server = await engine.start();
  project.provide('databaseServer', server.url);
  return () => server.close();
}
