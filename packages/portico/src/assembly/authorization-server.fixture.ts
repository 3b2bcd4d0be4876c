import type { Database } from '@portico/sql';
import type { Contribution, Feature, Parts } from '../feature.ts';
import type { Server } from '../server.ts';
import type { AuthorizationServerOptions } from './authorization-server-options.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { oauthServerConfiguration } from './feature-configuration.ts';

export const NOW = 1_800_000_000_000;
export const READING = 'https://app.example/reading';
export const WRITING = 'https://app.example/writing';
const quiet = () => {};
export const HOST = {
  signedIn: async () => null,
  loadAccount: async () => null,
  holdsPermission: async (_: unknown, permission: string) => permission === 'notes:read',
  browserSecret: async () => 'the secret of this one browser',
  loginUrl: '/login',
  log: { debug: quiet, info: quiet, warning: quiet, error: quiet },
};

/** Returns the validated section `oauth_server`, with these settings. */
export const configOf = (section: object = {}) =>
  oauthServerConfiguration.parse({
    name: 'App',
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes' },
    key_path: '/nowhere/keys',
    ...section,
  });

/** Returns the options of a server, with these settings. */
export const optionsWith = (
  database: Database,
  section: object = {},
  changes: Partial<AuthorizationServerOptions> = {},
): AuthorizationServerOptions => ({
  publicUrl: 'https://app.example',
  config: configOf(section),
  host: HOST,
  database,
  clock: () => NOW,
  ...changes,
});

export interface StartedWith {
  readonly section?: object;
  readonly changes?: Partial<AuthorizationServerOptions>;
  /** What a feature adds. */
  readonly adds?: Contribution;
  /** More of this feature. */
  readonly feature?: Partial<Feature>;
}

/** Starts a server with a feature. Returns it with the objects that the feature gets. */
export function startWith(
  database: Database,
  { section, changes = {}, adds = {}, feature = {} }: StartedWith = {},
) {
  let [server, parts]: [Server | null, Parts | null] = [null, null];
  const own: Feature = {
    name: 'own',
    start(started) {
      server = started;
      return {
        members(given) {
          parts = given;
          return {};
        },
        ...adds,
      };
    },
    ...feature,
  };
  const features = [...(changes.features ?? []), own];
  const options = optionsWith(database, section, { ...changes, features });
  const made = createAuthorizationServer(options);
  return { made, server: server as unknown as Server, parts: parts as unknown as Parts };
}
