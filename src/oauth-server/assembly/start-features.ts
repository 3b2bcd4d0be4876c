import { ConfigurationError } from '../../contracts/errors.ts';
import type { ClientDemand } from '../clients/demands.ts';
import type { OAuthServerConfig } from '../config.ts';
import type { Contribution, Feature } from '../feature.ts';
import { NO_DEMANDS, type DemandField } from '../clients/demands.ts';
import { OAuthError } from '../errors.ts';
import type { IssuanceCheck } from '../grants/issuing.ts';
import type { Server } from '../server.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';

/** What the features of a server add to it, all together. */
export interface Contributions {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Null where tokens are bound to nothing. */
  readonly binding: KeyBinding | null;
  readonly issuanceChecks: readonly IssuanceCheck[];
  /** Whether anything is taken that is good once. */
  readonly usesOnce: boolean;
}

/** What clients may demand of a server of these features. */
export function demandsOfFeatures(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly ClientDemand[] {
  return features
    .flatMap(({ clientDemands = [] }) => clientDemands)
    .map((demand) => ({ ...demand, isMet: demand.meets(config) }));
}

/** Adds these features to the server, in their order. Throws a ConfigurationError where two of them exclude each other. */
export function startFeatures(features: readonly Feature[], server: Server): Contributions {
  const started = features.flatMap((feature) => {
    const contribution = feature.start?.(server, server.config);
    return contribution === undefined ? [] : [{ name: feature.name, ...contribution }];
  });
  return {
    metadata: Object.assign({}, ...started.map(({ metadata }) => metadata)) as Record<string, unknown>,
    binding: onlyBinding(started),
    issuanceChecks: [
      requireKnownDemands(server.demands),
      ...started.flatMap(({ issuanceCheck }) => (issuanceCheck === undefined ? [] : [issuanceCheck])),
    ],
    usesOnce: started.some(({ usesOnce }) => usesOnce === true),
  };
}

function onlyBinding(started: readonly (Contribution & { readonly name: string })[]): KeyBinding | null {
  const binding = started.filter((each) => each.binding !== undefined);
  if (binding.length > 1) {
    const message = `binds tokens to a key, and so does ${binding[1]?.name ?? ''}; a server has one of them`;
    throw new ConfigurationError([{ key: `oauth_server:${binding[0]?.name ?? ''}`, message }]);
  }
  return binding[0]?.binding ?? null;
}

/** Never less than what was demanded: where the feature is gone that met it, nothing is issued in its place. */
function requireKnownDemands(demands: readonly ClientDemand[]): IssuanceCheck {
  const unknown = (Object.keys(NO_DEMANDS) as DemandField[]).filter(
    (field) => !demands.some((demand) => demand.field === field),
  );
  return (client) => {
    const demanded = unknown.find((field) => client[field]);
    if (demanded === undefined) return;
    throw new OAuthError(
      'unauthorized_client',
      'The client demands what this server does not offer.',
      `no token is issued: the client demands ${demanded}, and no feature of this server meets that`,
    );
  };
}
