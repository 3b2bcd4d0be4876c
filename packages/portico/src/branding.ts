import type { ConfigurationProblem } from '@portico/sql';

/** The branding for views. Views can write all of it into a page without escaping. */
export interface BrandingView {
  /** Custom properties for a style sheet. Empty if no color is set. */
  readonly styles: string;
  /** Null if there is no logo. */
  readonly logo: {
    readonly src: string;
    readonly dark: string | null;
    readonly showsName: boolean;
  } | null;
}

/** The look of an application's pages. */
export interface Branding {
  /** The data for views. */
  readonly view: BrandingView;
  /** The logos that Portico serves from files. */
  readonly logos: readonly ServedLogo[];
}

/** A logo from a file. */
export interface ServedLogo {
  /** The name of its endpoint. */
  readonly name: string;
  /** The path below `base_path`. */
  readonly path: string;
  /** Returns the response to a request for the logo. */
  readonly respond: (request: Request) => Response;
}

/** The application whose pages get the branding. */
export interface BrandedPlace {
  /** The application's folder; null if it is unknown. */
  readonly directory: string | null;
  /** `base_path`. */
  readonly basePath: string;
  /** The application's whole configuration; empty if only `oauth_server` is known. */
  readonly application: Readonly<Record<string, unknown>>;
}

/** The branding, the problems that prevent its use, or null for Portico's own design. */
export type FoundBranding =
  Branding | { readonly problems: readonly ConfigurationProblem[] } | null;
