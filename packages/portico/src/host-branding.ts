import path from 'node:path';
import { ConfigurationError } from '@portico/sql';
import { brandingProblems, createBranding, type Branding } from './defaults/branding/branding.ts';
import type { OAuthServerConfig } from './config.ts';
import type { CompleteHost } from './host.ts';

/**
 * The look of the pages from `oauth_server:branding`. Paths of files must be absolute, like
 * `key_path`, because the folder of the application is unknown here. Throws a ConfigurationError.
 */
export function brandingWithoutKit({ branding }: OAuthServerConfig, basePath: string): Branding | null {
  const relative = (['logo', 'logo_dark'] as const).flatMap((name) => {
    const given = branding?.[name];
    const isRelative = typeof given === 'string' && !path.isAbsolute(given);
    return isRelative ? [{ key: `oauth_server:branding:${name}`, message: 'must be an absolute path' }] : [];
  });
  const problems = relative.length > 0 ? relative : brandingProblems(branding, '/', 'oauth_server:branding');
  if (problems.length > 0) throw new ConfigurationError(problems);
  return createBranding(branding, { directory: '/', basePath });
}

/** Every page gets the branding, even if the host renders it. */
export function branded(host: CompleteHost, branding: Branding | null): CompleteHost {
  if (branding === null) return host;
  const { view } = branding;
  return { ...host, render: (name, data) => host.render(name, { branding: view, ...data }) };
}
