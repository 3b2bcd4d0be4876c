import { ENDPOINT_TABLE, type EndpointDescription } from '../endpoints/table.ts';
import type { Contribution, Feature } from '../feature.ts';

/** Names of endpoints that begin like this are Portico's own. */
const OWN_PREFIX = 'oauth_server_';

/**
 * Throws if an endpoint of a feature has the name or the path of another one, or a name that a route
 * of the application could have: routes are exempt from the CSRF check by name.
 */
export function requireOwnEndpoints(features: readonly Feature[]): void {
  const core: readonly EndpointDescription[] = ENDPOINT_TABLE;
  const names = new Set(core.map(({ name }) => name));
  const paths = new Set(core.map(({ path }) => path));
  for (const feature of features) {
    const { endpoints = [] } = feature;
    for (const { name, path } of endpoints) {
      const begins = name.startsWith(OWN_PREFIX) || name.startsWith(`${feature.name}_`);
      if (!begins)
        throw new Error(
          `The feature ${feature.name} adds the endpoint ${name}; begin its name with ${feature.name}_`,
        );
      if (names.has(name))
        throw new Error(`The feature ${feature.name} adds the endpoint ${name}, which exists`);
      if (paths.has(path))
        throw new Error(`The feature ${feature.name} adds an endpoint at ${path}, where another one is`);
      names.add(name);
    }
    for (const { path } of endpoints) paths.add(path);
  }
}

/** All members of the metadata that features add. Throws for one that another feature adds. */
export function metadataOf(
  started: readonly (Contribution & { readonly feature: Feature })[],
): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const { feature, metadata = {} } of started) {
    for (const [member, value] of Object.entries(metadata)) {
      if (Object.hasOwn(members, member))
        throw new Error(
          `The feature ${feature.name} adds the metadata member ${member}, which another feature adds`,
        );
      members[member] = value;
    }
  }
  return members;
}

/** Throws if features add a member of the metadata that the core has. */
export function requireOwnMembers(
  members: Readonly<Record<string, unknown>>,
  core: Readonly<Record<string, unknown>>,
): void {
  const taken = Object.keys(members).find((member) => Object.hasOwn(core, member));
  if (taken !== undefined)
    throw new Error(`A feature adds the metadata member ${taken}, which the server has`);
}
