import type { Importing } from '../../clients/import-contract.ts';
import { defineFeature } from '../../feature.ts';
import { importingShape } from './config.ts';
import { createImportedSecrets } from './imported-secrets.ts';

declare module '../../authorization-server.ts' {
  interface FeatureMembers {
    /** Imports the clients of another server, and its names for people. */
    readonly importing: Importing;
  }
}

/** Clients, secrets and subjects of another server. Only what verifies secrets is loaded while serving. */
export const importing = defineFeature({
  name: 'importing',
  config: importingShape,
  commands: async () => (await import('./commands.ts')).addImportCommands,
  start(server, { imported_pbkdf2_iterations: iterations = 0 }) {
    const { passwordHasher } = server.host;
    const secretHasher = createImportedSecrets({ passwordHasher, iterations });
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
