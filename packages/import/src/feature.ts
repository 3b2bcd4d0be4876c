import { defineFeature } from 'portico';
import * as z from 'zod/mini';
import type { Importing } from './contract.ts';
import { createImportedSecrets } from './imported-secrets.ts';

declare module 'portico' {
  interface FeatureMembers {
    /** Imports clients from another server, and the subjects (`sub`) that it uses for users. */
    readonly importing: Importing;
  }
}

/**
 * The maximum value of `imported_pbkdf2_iterations`. This many iterations take about one second of
 * CPU time.
 */
const MOST_ITERATIONS = 4_000_000;

const iterationsSchema = z
  .int('must be a whole number of iterations')
  .check(
    z.minimum(0, 'must be at least 0; with 0, no PBKDF2 hash is accepted'),
    z.maximum(MOST_ITERATIONS, `must be at most ${MOST_ITERATIONS}`),
  );

/**
 * The feature that imports clients, secrets and subjects from another server. A running server
 * loads only the code that verifies secrets, until it imports something.
 *
 * @example
 * defineApplication({ config, plugins: [oauthServer({ features: [importing] })] });
 */
export const importing = defineFeature({
  name: 'importing',
  config: { imported_pbkdf2_iterations: z.optional(iterationsSchema) },
  commands: async () => (await import('./commands.ts')).addImportCommands,
  start(server, { imported_pbkdf2_iterations: iterations = 0 }) {
    const { passwordHasher } = server.host;
    const secretHasher = createImportedSecrets(passwordHasher, iterations);
    return {
      secretHasher,
      members: () => ({
        importing: {
          async clients(records, options = {}) {
            const { ClientImporter } = await import('./client-importer.ts');
            return new ClientImporter(server, secretHasher, options).import(records);
          },
          async subjects(records, options = {}) {
            const { importSubjects } = await import('./subjects.ts');
            return importSubjects(server, records, options);
          },
        },
      }),
      examination: (parts) => ({
        part: 'imported secrets',
        of: 'registered clients',
        async findings(application) {
          const { examineImportedSecrets } = await import('./examination.ts');
          return examineImportedSecrets(application, parts.server());
        },
      }),
    };
  },
});
