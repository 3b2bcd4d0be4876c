import { z } from 'zod';
import { accentProblem } from './accents.ts';

const color = (scheme: 'light' | 'dark') =>
  z.string({ error: 'must be a colour such as #1f5c4d' }).superRefine((text, context) => {
    const problem = accentProblem(text, scheme);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

/** A path of the application's origin, as a browser requests it. */
const OWN_PATH = /^\/(?!\/)[\w.~!$&()*+,;=:@%/?-]*$/;

const logo = z.union([z.string().min(1), z.strictObject({ path: z.string().regex(OWN_PATH) })], {
  error: "must be a file, or { path: '/static/logo.svg' } for what this origin serves",
});

/** The section `branding` of the configuration. */
export const brandingSchema = z.strictObject(
  {
    logo: logo.optional(),
    logo_dark: logo.optional(),
    logo_shows_name: z.boolean({ error: 'must be true or false' }).optional(),
    accent: color('light').optional(),
    accent_dark: color('dark').optional(),
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
   * The color of buttons, links and marks, such as `#1f5c4d`, with a contrast of 4.5:1 to page and
   * card.
   */
  readonly accent?: string | undefined;
  /** The accent for dark mode; `accent`, made as bright as it has to be. */
  readonly accent_dark?: string | undefined;
}
