import type { ConfigurationProblem } from '@portico/sql';

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
  readonly name: string;
  /** Below `base_path`. */
  readonly path: string;
  /** Answers a request for it. */
  readonly respond: (request: Request) => Response;
}

/** Where the pages are that have a look. */
export interface BrandedPlace {
  /** The folder of the application; null if it is unknown. */
  readonly directory: string | null;
  /** `base_path`. */
  readonly basePath: string;
  /** The whole configuration of the application; empty if only `oauth_server` is known. */
  readonly application: Readonly<Record<string, unknown>>;
}

/** A look, what keeps it from being used, or null for Portico's own design. */
export type FoundBranding = Branding | { readonly problems: readonly ConfigurationProblem[] } | null;
