import path from 'node:path';
import type { ConfigurationProblem } from '@portico/sql';
import { accentProperties, darkAccentOf } from './accents.ts';
import { parseColor } from './colors.ts';
import { readLogo, type LogoFile } from './logo.ts';
import type { BrandingConfig } from './schema.ts';

export { brandingSchema, type BrandingConfig, type BrandingInput } from './schema.ts';

/** The paths of the logos, below `base_path`. */
export const LOGO_PATHS = { logo: '/oauth/branding/logo', logo_dark: '/oauth/branding/logo-dark' } as const;

/** The branding for views. All of it is safe to write into a page unescaped. */
export interface BrandingView {
  /** Custom properties for a style sheet. Empty if no color is set. */
  readonly styles: string;
  /** Null without a logo. */
  readonly logo: { readonly src: string; readonly dark: string | null; readonly showsName: boolean } | null;
}

/** The look of an application's pages. */
export interface Branding {
  /** The data for views. */
  readonly view: BrandingView;
  /** The logos that are files, each with its path below `base_path`. */
  readonly logos: readonly ServedLogo[];
}

/** A logo from a file. */
export interface ServedLogo {
  /** The name of its endpoint. */
  readonly name: 'oauth_server_branding_logo' | 'oauth_server_branding_logo_dark';
  /** Below `base_path`. */
  readonly path: string;
  /** Answers a request for it. */
  readonly respond: (request: Request) => Response;
}

type Names = keyof typeof LOGO_PATHS;

/**
 * The problems of the configured files. `key` is the section's key: `branding` or
 * `oauth_server:branding`.
 */
export function brandingProblems(
  config: BrandingConfig | undefined,
  directory: string,
  key: string,
): readonly ConfigurationProblem[] {
  return (['logo', 'logo_dark'] as const).flatMap((name) => {
    const given = config?.[name];
    const read = typeof given === 'string' ? readLogo(path.resolve(directory, given)) : null;
    return read !== null && 'problem' in read ? [{ key: `${key}:${name}`, message: read.problem }] : [];
  });
}

/**
 * Null if nothing is set. Reads the files now, so that files of a later deployment do not mix with
 * this release.
 */
export function createBranding(
  config: BrandingConfig | undefined,
  { directory, basePath }: { readonly directory: string; readonly basePath: string },
): Branding | null {
  if (config === undefined || Object.values(config).every((value) => value === undefined)) return null;
  const logos: ServedLogo[] = [];

  function sourceOf(name: Names): string | null {
    const given = config?.[name];
    if (given === undefined) return null;
    if (typeof given !== 'string') return given.path;
    const read = readLogo(path.resolve(directory, given));
    if ('problem' in read) throw new Error(read.problem);
    const respond = (request: Request) => logoResponse(request, read);
    logos.push({ name: `oauth_server_branding_${name}`, path: LOGO_PATHS[name], respond });
    return `${basePath}${LOGO_PATHS[name]}?v=${read.version}`;
  }

  const [src, dark] = [sourceOf('logo'), sourceOf('logo_dark')];
  const shown = src ?? dark;
  const showsName = config.logo_shows_name === true;
  const logo = shown === null ? null : { src: shown, dark: src === null ? null : dark, showsName };
  return { view: { styles: stylesOf(config), logo }, logos };
}

function stylesOf({ accent, accent_dark: accentDark }: BrandingConfig): string {
  const light = parseColor(accent ?? '');
  const dark = parseColor(accentDark ?? '') ?? (light === null ? null : darkAccentOf(light));
  const lines = [
    ...(light === null ? [] : [`:root { ${accentProperties(light, 'light')} }`]),
    ...(dark === null
      ? []
      : [`@media (prefers-color-scheme: dark) { :root { ${accentProperties(dark, 'dark')} } }`]),
  ];
  return lines.join('\n');
}

const A_YEAR = 31_536_000;

/**
 * A request with the right version is cached permanently; others are revalidated. An SVG that is
 * opened directly can run and load nothing.
 */
function logoResponse(request: Request, { bytes, type, version }: LogoFile): Response {
  const isVersioned = new URL(request.url).searchParams.get('v') === version;
  const etag = `"${version}"`;
  const headers = {
    'Cache-Control': isVersioned ? `public, max-age=${A_YEAR}, immutable` : 'no-cache',
    ETag: etag,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(bytes, { headers: { ...headers, 'Content-Type': type } });
}
