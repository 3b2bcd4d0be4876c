import { z } from 'zod';
import { trueOrFalse } from '../../config.ts';

const color = z
  .string({ error: 'must be a color such as #1f5c4d' })
  .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, 'must be a color such as #1f5c4d');

/** Matches a path on the application's origin, as browsers request it. It may contain a query. */
const OWN_PATH = /^\/(?!\/)[\w.~!$&()*+,;=:@%/?-]*$/;

const logo = z.union([z.string().min(1), z.strictObject({ path: z.string().regex(OWN_PATH) })], {
  error: "must be a file, or { path: '/static/logo.svg' } for a path of this origin",
});

const brandingSchema = z.strictObject(
  {
    logo: logo.optional(),
    logo_dark: logo.optional(),
    logo_shows_name: trueOrFalse.optional(),
    accent: color.optional(),
    accent_dark: color.optional(),
  },
  { error: 'must be an object { logo, logo_dark, logo_shows_name, accent, accent_dark }' },
);

export type BrandingConfig = z.output<typeof brandingSchema>;

/**
 * The branding of the pages. If a setting is missing, the pages use Portico's default design for
 * it.
 */
export interface BrandingInput {
  /**
   * The logo: a PNG, SVG, WebP or JPEG file in the application's folder, at most 256 KiB. Portico
   * serves it at `/oauth/branding/logo`. If your application already serves the logo, set its path
   * instead, such as `{ path: '/static/logo.svg' }`. Default: none.
   */
  readonly logo?: string | { readonly path: string } | undefined;
  /** The logo for dark mode. Default: `logo`. */
  readonly logo_dark?: string | { readonly path: string } | undefined;
  /**
   * Whether the logo already contains the application's name. If true, the pages do not show the
   * name a second time. Default: false.
   */
  readonly logo_shows_name?: boolean | undefined;
  /**
   * The color of buttons, links and marks, such as `#1f5c4d`. If the color is too light to read,
   * browsers darken it until its contrast is 4.5:1.
   */
  readonly accent?: string | undefined;
  /**
   * The color of buttons, links and marks in dark mode. If the color is too dark to read, browsers
   * lighten it. Default: `accent`.
   */
  readonly accent_dark?: string | undefined;
}

export const brandingShape = { branding: brandingSchema.optional() };

export interface ServerBrandingConfig {
  /**
   * The branding of the pages. In a kit application, the application's own setting `branding`
   * overrides this one. Without the kit, use absolute paths for logo files. By default, the pages
   * use Portico's own design.
   */
  readonly branding?: BrandingInput | undefined;
}

export interface ApplicationBrandingConfig {
  /**
   * The branding of the pages: a logo and an accent color. By default, the pages use Portico's own
   * design.
   */
  readonly branding?: BrandingInput | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ServerBrandingConfig {}
  interface OAuthServerConfigInput extends ServerBrandingConfig {}
}

declare module '../../application/typed-configuration.ts' {
  interface KitConfigInput extends ApplicationBrandingConfig {}
}
