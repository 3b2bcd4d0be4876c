import type { TestProject } from 'vitest/node';
import { MARIADB } from './database-server.ts';
import { provideServer } from './provide-server.ts';

/** The server that the tests of the project `mariadb` use. */
export default (project: TestProject) => provideServer(project, MARIADB);
