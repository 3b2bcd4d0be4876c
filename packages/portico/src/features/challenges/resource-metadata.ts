import type { ConfigurationProblem } from '@portico/sql';
import type { ChallengesConfig } from './config.ts';

/** Returns the problems of `oauth_server:challenge` in combination with other settings. */
export function challengeProblems(
  { challenge = false, audience }: ChallengesConfig & { readonly audience: string },
  publicUrl: string,
): readonly ConfigurationProblem[] {
  if (!challenge) return [];
  const key = 'oauth_server:challenge';
  if (audience === '') {
    return [
      {
        key,
        message: 'needs oauth_server:audience; set oauth_server:audience to the URL of your API',
      },
    ];
  }
  const { origin } = new URL(publicUrl);
  if (new URL(audience).origin === origin) return [];
  const message =
    `cannot publish the metadata of ${audience}, because that API is not on ${origin}; use ` +
    '@portico/resource-server in that API';
  return [{ key, message }];
}
