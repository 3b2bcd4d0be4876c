import type { TestProject } from 'vitest/node';
import { MARIADB } from './database-server.ts';
import { provideServer } from './provide-server.ts';

/** Starts the server for the tests of the project `mariadb`. */
export default (project: TestProject) => provideServer(project, MARIADB);
