import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import { defineFeature } from '../../feature.ts';
import type { CompleteHost } from '../../host/host.ts';
import { readDetails } from './authentication.ts';
import { checkMaxAge, checkPrompt } from './checks.ts';
import { reauthenticationShape } from './config.ts';
import { Reauthentication } from './reauthentication.ts';
import { makesRequirement } from './requirement.ts';

/**
 * Clients and APIs can require a user to authenticate again (OpenID Connect Core section 3.1.2.1,
 * RFC 9470).
 */
export const reauthentication = defineFeature({
  name: 'reauthentication',
  config: reauthenticationShape,
  errorCodes: ['insufficient_user_authentication'],
  problems: ({ reauthentication: isOn = false, acr_values: values }) =>
    values === undefined || isOn
      ? []
      : [
          {
            key: 'oauth_server:acr_values',
            message: 'needs oauth_server:reauthentication; set it to true',
          },
        ],
  start(server, { reauthentication: isOn = false, acr_values: acrValues = [] }) {
    const { host, clock } = server;
    const tokenMembers = makesRequirement(isOn, clock);
    if (!isOn) return { tokenMembers };
    return {
      tokenMembers,
      requestChecks: { prompt: checkPrompt, max_age: checkMaxAge },
      requestParameters: ['prompt', 'max_age', 'acr_values', 'id_token_hint'],
      interaction: new Reauthentication(server, requirePage(host), acrValues),
      describe: (details) => ({ ...readDetails(details) }),
      metadata: acrValues.length === 0 ? {} : { acr_values_supported: acrValues },
      metadataValues: {
        prompt_values_supported: ['login'],
        claims_supported: ['auth_time', 'acr', 'amr'],
      },
    };
  },
});

/** Throws a ConfigurationError if the host lacks a member that this feature needs. */
function requirePage(host: CompleteHost): NonNullable<CompleteHost['reauthenticateUrl']> {
  const { authenticatedAt, reauthenticateUrl } = host;
  const missing = Object.entries({ authenticatedAt, reauthenticateUrl }).filter(
    ([, has]) => has === null,
  );
  if (missing.length > 0) {
    const problems = missing.map(([member]): ConfigurationProblem => {
      const message = `needs ${member} in the host contract; add it, or set this setting to false`;
      return { key: 'oauth_server:reauthentication', message };
    });
    throw new ConfigurationError(problems);
  }
  return reauthenticateUrl as NonNullable<typeof reauthenticateUrl>;
}
