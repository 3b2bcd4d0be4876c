import type { z } from 'zod';
import type { ConfigurationProblem } from '../contracts/errors.ts';
import type { DemandDescription } from './clients/demands.ts';
import type { OAuthServerConfig } from './config.ts';
import type { IssuanceCheck } from './grants/issuing.ts';
import type { Server } from './server.ts';
import type { KeyBinding } from './tokens/key-binding.ts';

/** Keys of the configuration, each with its schema. */
export type ConfigShape = Readonly<Record<string, z.ZodType>>;

/** The values of these keys, once they are validated. */
export type ConfigOf<Shape extends ConfigShape> = {
  readonly [Key in keyof Shape]?: z.output<Shape[Key]> | undefined;
};

/**
 * What a feature of the server is, whatever a server is configured to do. `Config` is the section `oauth_server` with its keys, as each function
 * is given it.
 */
export interface Feature<Config = OAuthServerConfig> {
  /** Names it in problems: lower snake case. */
  readonly name: string;
  /** Its keys under `oauth_server`. */
  readonly config?: ConfigShape;
  /** Its keys of a scope that is configured as an object. */
  readonly scopeConfig?: ConfigShape;
  /** What is wrong between keys that are each valid by themselves. */
  problems?(config: Config): readonly ConfigurationProblem[];
  /** Error codes that it answers with, beside those of the core. */
  readonly errorCodes?: readonly string[];
  /** The schemes of `Authorization` that its tokens come in. */
  tokenSchemes?(config: Config): readonly string[];
  /** What clients may demand of it. */
  readonly clientDemands?: readonly OfferedDemand<Config>[];
  /** Adds it to a server. Called once for each, also where its keys leave it off. */
  start?(server: Server, config: Config): Contribution;
}

/** A demand, and whether a server meets it. */
export interface OfferedDemand<Config = OAuthServerConfig> extends DemandDescription {
  meets(config: Config): boolean;
}

/** What a feature adds to one server. */
export interface Contribution {
  /** Members of the metadata (RFC 8414 section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Binds tokens to a key of their client; at most one feature does. */
  readonly binding?: KeyBinding;
  /** Refuses to issue a token. */
  readonly issuanceCheck?: IssuanceCheck;
  /** Whether it takes anything that is good once, such as what somebody signed. */
  readonly usesOnce?: boolean;
}

/** A feature, each function of which is given the section `oauth_server` with the keys of its `config`. */
export function defineFeature<Shape extends ConfigShape>(
  feature: Feature<OAuthServerConfig & ConfigOf<Shape>> & { readonly config?: Shape },
): Feature {
  return feature;
}
