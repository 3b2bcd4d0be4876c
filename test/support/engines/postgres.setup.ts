import type { TestProject } from 'vitest/node';
import { POSTGRES } from './database-server.ts';
import { provideServer } from './provide-server.ts';

/** The server that the tests of the project `postgres` use. */
export default (project: TestProject) => provideServer(project, POSTGRES);
