import { z } from 'zod';

const color = z
  .string({ error: 'must be a colour such as #1f5c4d' })
  .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, 'must be a colour such as #1f5c4d');

/** A path of the application's origin, as a browser requests it. */
const OWN_PATH = /^\/(?!\/)[\w.~!$&()*+,;=:@%/?-]*$/;

const logo = z.union([z.string().min(1), z.strictObject({ path: z.string().regex(OWN_PATH) })], {
  error: "must be a file, or { path: '/static/logo.svg' } for what this origin serves",
});

/** The section `branding`. */
const brandingSchema = z.strictObject(
  {
    logo: logo.optional(),
    logo_dark: logo.optional(),
    logo_shows_name: z.boolean({ error: 'must be true or false' }).optional(),
    accent: color.optional(),
    accent_dark: color.optional(),
  },
  { error: 'must be an object { logo, logo_dark, logo_shows_name, accent, accent_dark }' },
);

/** The validated section `branding`. */
export type BrandingConfig = z.output<typeof brandingSchema>;

/** The look of the pages. Portico's design applies to everything that is left out. */
export interface BrandingInput {
  /**
   * A file below the application's folder, at most 256 KiB: PNG, SVG, WebP or JPEG. Portico serves
   * it from `/oauth/branding/logo`. Or a path of this origin where the application serves the logo;
   * none.
   */
  readonly logo?: string | { readonly path: string } | undefined;
  /** The logo for dark mode; `logo`. */
  readonly logo_dark?: string | { readonly path: string } | undefined;
  /** Whether the logo contains the name, so that it is not written beside it; false. */
  readonly logo_shows_name?: boolean | undefined;
  /**
   * The color of buttons, links and marks, such as `#1f5c4d`. Browsers make it darker, as far as
   * text needs (a contrast of 4.5:1).
   */
  readonly accent?: string | undefined;
  /** The accent for dark mode, which browsers make brighter instead; `accent`. */
  readonly accent_dark?: string | undefined;
}

/** The key of `oauth_server`, and that of an application. */
export const brandingShape = { branding: brandingSchema.optional() };

export interface ServerBrandingConfig {
  /**
   * How the pages look, unless the kit's section `branding` says it. Without the kit, write
   * absolute paths of files; Portico's own design.
   */
  readonly branding?: BrandingInput | undefined;
}

export interface ApplicationBrandingConfig {
  /** The look of the pages: a logo and an accent color. Portico's own design unless set. */
  readonly branding?: BrandingInput | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ServerBrandingConfig {}
  interface OAuthServerConfigInput extends ServerBrandingConfig {}
}

declare module '../../application/typed-configuration.ts' {
  interface KitConfigInput extends ApplicationBrandingConfig {}
}
