import type { TestProject } from 'vitest/node';
import { MYSQL } from './database-server.ts';
import { provideServer } from './provide-server.ts';

/** Starts the server for the tests of the project `mysql`. */
export default (project: TestProject) => provideServer(project, MYSQL);
