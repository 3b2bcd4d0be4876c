// `node profile-start.ts` creates a server with the profile fapi2 on the sources, and prints what
// is wrong with its configuration. test/feature-deletion.test.ts runs it in copies of the sources
// that lack a feature.
import {
  ConfigurationError,
  createAuthorizationServer,
  oauthServerConfiguration,
  openDatabase,
} from '../../packages/portico/src/index.ts';

const database = openDatabase('sqlite:unused.sqlite', { directory: import.meta.dirname });
let problems: readonly string[] = [];
try {
  createAuthorizationServer({
    publicUrl: 'https://app.example',
    config: oauthServerConfiguration.parse({
      name: 'App',
      scopes: {},
      key_path: '/keys',
      profile: 'fapi2',
    }),
    database,
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      browserSecret: async () => 'the secret of this one browser',
      loginUrl: '/login',
    },
  });
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  problems = error.problems.map(({ key, message }) => `${key} ${message}`);
} finally {
  await database.close();
}
process.stdout.write(`${JSON.stringify(problems)}\n`);
