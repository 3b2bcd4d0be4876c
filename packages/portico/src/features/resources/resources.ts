import type { ConfigurationProblem } from '@portico/sql';
import { getMetadataUrl, type ResourceDescription } from '../../tokens/resource-indicators.ts';
import { IDENTITY_SCOPES } from '../../tokens/scopes.ts';
import type { ResourcesConfig } from './config.ts';

type Configured = NonNullable<ResourcesConfig['resources']>;

interface Settings extends ResourcesConfig {
  readonly audience: string;
  readonly scopes: Readonly<Record<string, unknown>>;
}

const KEY = 'oauth_server:resources';

/**
 * Describes each configured resource. The server cannot serve metadata on other origins, so such a
 * resource has no metadata URL.
 */
export function describeResources(
  configured: Configured,
  publicUrl: string,
): readonly ResourceDescription[] {
  const { origin } = new URL(publicUrl);
  return Object.entries(configured).map(([resource, { scopes, label, challenge }]) => ({
    resource,
    scopes,
    label: label ?? null,
    metadataUrl: new URL(resource).origin === origin ? getMetadataUrl(resource) : null,
    challenge,
  }));
}

/** Returns the conflicts with other settings. */
export function resourceProblems(
  { resources, audience, scopes }: Settings,
  publicUrl: string,
): readonly ConfigurationProblem[] {
  if (resources === undefined) return [];
  const urls = Object.keys(resources);
  return [
    ...urls.flatMap((url) => spellingProblems(url, urls)),
    ...Object.entries(resources).flatMap(([url, each]) => [
      ...each.scopes.flatMap((scope) => scopeProblems(url, scope, scopes)),
      ...challengeProblems(url, each.challenge, publicUrl),
    ]),
    ...(audience === '' || Object.hasOwn(resources, audience)
      ? []
      : [otherAudience(audience, urls)]),
  ];
}

/**
 * Returns the problems with the spelling of a URL. The server compares resources character by
 * character, so two spellings would be two resources. A client that normalizes URLs could never
 * request another spelling, so the URL must be normalized.
 */
function spellingProblems(url: string, all: readonly string[]): readonly ConfigurationProblem[] {
  const { href, pathname, origin } = new URL(url);
  const isNormal = url === href || (pathname === '/' && url === origin);
  // A router would treat these characters as part of a pattern.
  if (/[:*]/.test(pathname))
    return [{ key: `${KEY}:${url}`, message: 'must not contain : or * in its path' }];
  if (!isNormal)
    return [
      { key: `${KEY}:${url}`, message: `must be written as ${pathname === '/' ? origin : href}` },
    ];
  if (!url.endsWith('/') || !all.includes(url.slice(0, -1))) return [];
  return [
    {
      key: `${KEY}:${url}`,
      message:
        'differs from another configured URL only by the slash at the end; remove one of the ' +
        'two URLs',
    },
  ];
}

function scopeProblems(
  url: string,
  scope: string,
  offered: Readonly<Record<string, unknown>>,
): readonly ConfigurationProblem[] {
  const key = `${KEY}:${url}:scopes`;
  if (Object.hasOwn(IDENTITY_SCOPES, scope))
    return [{ key, message: `contains ${scope}, which every resource already has; remove it` }];
  if (Object.hasOwn(offered, scope)) return [];
  return [{ key, message: `contains ${scope}, which is not in oauth_server:scopes; add it there` }];
}

function challengeProblems(
  url: string,
  challenge: boolean,
  publicUrl: string,
): readonly ConfigurationProblem[] {
  const { origin } = new URL(publicUrl);
  if (!challenge || new URL(url).origin === origin) return [];
  const message =
    `cannot publish the metadata of ${url}, which is not on ${origin}; set challenge to ` +
    'false, and use @portico/resource-server in that API';
  return [{ key: `${KEY}:${url}:challenge`, message }];
}

function otherAudience(audience: string, urls: readonly string[]): ConfigurationProblem {
  const message =
    `is ${audience}, which is not in ${KEY} (${urls.join(', ')}); add it there, or set ` +
    'oauth_server:audience to the API for requests without a resource parameter';
  return { key: 'oauth_server:audience', message };
}
