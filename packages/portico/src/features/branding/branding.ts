import path from 'node:path';
import type { ConfigurationProblem } from '@portico/sql';
import type {
  BrandedPlace,
  Branding,
  BrandingView,
  FoundBranding,
  ServedLogo,
} from '../../pages/branding.ts';
import { isForBrowserOnly, publicCacheControl } from '../../http/public-cache.ts';
import type { BrandingConfig } from './config.ts';
import { readLogo, type LogoFile } from './logo.ts';
import { buildStyles } from './styles.ts';

/** The paths under which the server serves the logos, below `base_path`. */
const LOGO_PATHS = {
  logo: '/oauth/branding/logo',
  logo_dark: '/oauth/branding/logo-dark',
} as const;

type LogoName = keyof typeof LOGO_PATHS;

/**
 * Returns the branding from the application's setting `branding` or from `oauth_server:branding`.
 * Reads the logo files now, so a later deployment does not change the logos of this process.
 */
export function getBranding(
  ofServer: BrandingConfig | undefined,
  place: BrandedPlace,
): FoundBranding {
  const own = place.application['branding'] as BrandingConfig | undefined;
  const config = own ?? ofServer ?? {};
  const key = own === undefined ? 'oauth_server:branding' : 'branding';
  const files = new Map<LogoName, LogoFile>();
  const problems: ConfigurationProblem[] = [];
  for (const name of ['logo', 'logo_dark'] as const) {
    const given = config[name];
    if (typeof given !== 'string') continue;
    const read = readBelow(place.directory, given);
    if ('problem' in read) problems.push({ key: `${key}:${name}`, message: read.problem });
    else files.set(name, read);
  }
  if (problems.length > 0) return { problems };
  if (Object.values(config).every((value) => value === undefined)) return null;
  return brandingWith(config, files, place.basePath);
}

/**
 * Reads a file in the application's folder. Without a known folder, the path must be absolute, as
 * for `key_path`.
 */
function readBelow(directory: string | null, file: string): ReturnType<typeof readLogo> {
  if (directory === null && !path.isAbsolute(file)) return { problem: 'must be an absolute path' };
  return readLogo(path.resolve(directory ?? '/', file));
}

function brandingWith(
  config: BrandingConfig,
  files: ReadonlyMap<LogoName, LogoFile>,
  basePath: string,
): Branding {
  const sourceOf = (name: LogoName): string | null => {
    const file = files.get(name);
    if (file !== undefined) return `${basePath}${LOGO_PATHS[name]}?v=${file.version}`;
    const given = config[name];
    return typeof given === 'object' ? given.path : null;
  };
  const [src, dark] = [sourceOf('logo'), sourceOf('logo_dark')];
  const shown = src ?? dark;
  const showsName = config.logo_shows_name === true;
  const logo: BrandingView['logo'] =
    shown === null ? null : { src: shown, dark: src === null ? null : dark, showsName };
  const logos = [...files].map(([name, file]): ServedLogo => ({
    name: `oauth_server_branding_${name}`,
    path: LOGO_PATHS[name],
    respond: (request) => logoResponse(request, file),
  }));
  return { view: { styles: buildStyles(config), logo }, logos };
}

const A_YEAR = 31_536_000;

/**
 * Returns the response with a logo. If the URL contains the logo's version, browsers may cache it
 * for a year. Otherwise, they check for a new logo each time. An SVG that a user opens directly
 * cannot run scripts or load resources.
 */
function logoResponse(request: Request, { bytes, type, version }: LogoFile): Response {
  const isVersioned = new URL(request.url).searchParams.get('v') === version;
  const etag = `"${version}"`;
  const headers = {
    'Cache-Control': isVersioned
      ? publicCacheControl(request, `max-age=${A_YEAR}, immutable`)
      : `${isForBrowserOnly(request) ? 'private, ' : ''}no-cache`,
    ETag: etag,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (request.headers.get('if-none-match') === etag)
    return new Response(null, { status: 304, headers });
  return new Response(bytes, { headers: { ...headers, 'Content-Type': type } });
}
