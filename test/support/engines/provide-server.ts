import type { TestProject } from 'vitest/node';
import type { Engine } from './database-server.ts';

/** Starts the engine for a test project. Returns a function that stops it. */
export async function provideServer(
  project: TestProject,
  engine: Engine,
): Promise<() => Promise<void>> {
  const server = await engine.start();
  project.provide('databaseServer', server.url);
  return () => server.close();
}
