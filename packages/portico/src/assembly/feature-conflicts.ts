import { ConfigurationError } from '@portico/sql';
import { ENDPOINT_TABLE, type EndpointDescription } from '../endpoints/table.ts';
import { isCheck } from '../authorization/checks.ts';
import type { RequestCheck, RequestReading } from '../authorization/request-check.ts';
import { QUERY } from '../authorization/response-modes.ts';
import type { OAuthServerConfig } from '../config.ts';
import type { Deliver } from '../outbox/message.ts';
import type { Contribution, Feature } from '../feature.ts';
import { GRANT_TYPES, type GrantType } from '../grants/grant-types.ts';
import type { SendingMode } from '../endpoints/replies/sending.ts';
import type { Beginning } from '../store/grant.ts';
import { INTROSPECTION } from '../store/grant-types.ts';

/** A feature that has started, with everything it adds to the server. */
export type Started = Contribution & { readonly feature: Feature };

/** The names of Portico's own endpoints begin with this prefix. */
const OWN_PREFIX = 'oauth_server_';

/**
 * Throws if the name of a feature's endpoint is in use, or if Portico or another feature uses its
 * path. The name must begin with `oauth_server_` or the feature's name. The CSRF check skips
 * endpoints by name, so no endpoint may have the name of a route of the application.
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
          `The feature ${feature.name} adds the endpoint ${name}; its name must begin with ` +
            `${feature.name}_`,
        );
      if (names.has(name))
        throw new Error(
          `The feature ${feature.name} adds the endpoint ${name}, which already exists`,
        );
      if (paths.has(path))
        throw new Error(
          `The feature ${feature.name} adds an endpoint at ${path}, which another endpoint ` +
            'already has',
        );
      names.add(name);
    }
    for (const { path } of endpoints) paths.add(path);
  }
}

/**
 * Returns the contribution of the only feature with this member, or null. Throws a
 * ConfigurationError if two features have it.
 */
export function findOnly<Adds extends object>(
  features: readonly (readonly [feature: Feature, adds: Adds])[],
  member: keyof Adds & string,
): Adds | null {
  const [first, second] = features.filter(([, adds]) => adds[member] !== undefined);
  if (first === undefined) return null;
  if (second === undefined) return first[1];
  const message = `is also provided by the feature ${second[0].name} (${member}); remove one of the two features`;
  throw new ConfigurationError([{ key: `oauth_server:${first[0].name}`, message }]);
}

/**
 * The database stores a client's grants in one string, separated by spaces. So the name of a grant
 * type contains none.
 */
const GRANT_NAME = /^[\x21-\x7E]{1,255}$/;

/** Returns the grant types of Portico and of features. Throws if one already exists. */
export function collectGrantTypes(started: readonly Started[]): readonly GrantType[] {
  const types = [...GRANT_TYPES];
  for (const { feature, grants = [] } of started) {
    for (const type of grants) {
      const { name } = type;
      if (!GRANT_NAME.test(name))
        throw new Error(
          `The feature ${feature.name} adds the grant type ${name}; its name must be a URI`,
        );
      if (name === INTROSPECTION || types.some((each) => each.name === name))
        throw new Error(
          `The feature ${feature.name} adds the grant type ${name}, which already exists`,
        );
      requireRules(feature, type);
      types.push(type);
    }
  }
  return types;
}

const BEGINNINGS: readonly Beginning[] = ['person', 'organization', 'client'];

/**
 * No compiler checks these values in JavaScript. A wrong value could let every client use the
 * grant.
 */
function requireRules({ name: feature }: Feature, { name, begins, clients }: GrantType): void {
  if (begins !== null && !BEGINNINGS.includes(begins))
    throw new Error(
      `The grant type ${name} of ${feature} must have begins: 'person', 'organization', ` +
        "'client' or null",
    );
  if (clients !== 'any' && clients !== 'confidential')
    throw new Error(
      `The grant type ${name} of ${feature} must have clients: 'any' or 'confidential'`,
    );
  // A client that requests tokens for itself gets every scope it requests, because no user's
  // permissions limit them. Public clients must not use such a grant.
  if (begins === 'client' && clients === 'any')
    throw new Error(
      `The grant type ${name} of ${feature} must have clients: 'confidential', because it has ` +
        "begins: 'client'",
    );
}

/**
 * Returns the checks that features replace, and the parameters that they add. Throws if a check
 * does not exist, or if two features replace the same one.
 */
export function collectReading(started: readonly Started[]): RequestReading {
  const checks: Record<string, RequestCheck> = {};
  for (const { feature, requestChecks = {} } of started) {
    for (const [name, check] of Object.entries(requestChecks)) {
      if (!isCheck(name))
        throw new Error(
          `The feature ${feature.name} replaces the check ${name}, which does not exist`,
        );
      if (Object.hasOwn(checks, name))
        throw new Error(
          `The feature ${feature.name} replaces the check ${name}, which another feature replaces`,
        );
      checks[name] = check;
    }
  }
  return {
    checks,
    parameters: [...new Set(started.flatMap((each) => each.requestParameters ?? []))],
  };
}

/**
 * Returns the delivery function for each kind of message. Throws if two features deliver the same
 * kind. A feature must declare that it delivers messages. Otherwise, the outbox tables may be
 * missing.
 */
export function collectDeliveries(
  started: readonly Started[],
  config: OAuthServerConfig,
): Readonly<Record<string, Deliver>> {
  const found: Record<string, Deliver> = {};
  for (const { feature, deliveries = {} } of started) {
    const kinds = Object.entries(deliveries);
    if (kinds.length > 0 && feature.sendsMessages?.(config) !== true)
      throw new Error(
        `The feature ${feature.name} delivers messages, so its sendsMessages must return true`,
      );
    for (const [kind, deliver] of kinds) {
      if (Object.hasOwn(found, kind))
        throw new Error(
          `The feature ${feature.name} delivers ${kind}, which another feature also ` +
            'delivers; remove one of them',
        );
      found[kind] = deliver;
    }
  }
  return found;
}

/** Throws if two features add the same member. */
export function collectMetadata(started: readonly Started[]): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const { feature, metadata = {} } of started) {
    for (const [member, value] of Object.entries(metadata)) {
      if (Object.hasOwn(members, member))
        throw new Error(
          `The feature ${feature.name} adds the metadata member ${member}, which another ` +
            'feature also adds',
        );
      members[member] = value;
    }
  }
  return members;
}

/** Throws if a feature adds a mode that already exists. */
export function collectResponseModes(started: readonly Started[]): readonly SendingMode[] {
  const names = new Set([QUERY]);
  return started.flatMap(({ feature, responseModes = [] }) => {
    for (const { name } of responseModes) {
      if (names.has(name))
        throw new Error(
          `The feature ${feature.name} adds the response_mode ${name}, which already exists`,
        );
      names.add(name);
    }
    return responseModes;
  });
}

/** Throws if a feature adds a metadata member that Portico already has. */
export function requireOwnMembers(
  members: Readonly<Record<string, unknown>>,
  core: Readonly<Record<string, unknown>>,
): void {
  const taken = Object.keys(members).find((member) => Object.hasOwn(core, member));
  if (taken !== undefined)
    throw new Error(`A feature adds the metadata member ${taken}, which the server already has`);
}
