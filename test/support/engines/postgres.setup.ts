import type { TestProject } from 'vitest/node';
import { POSTGRES } from './database-server.ts';
import { provideServer } from './provide-server.ts';

/** Starts the server for the tests of the project `postgres`. */
export default (project: TestProject) => provideServer(project, POSTGRES);
