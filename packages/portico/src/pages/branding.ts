import type { ConfigurationProblem } from '@portico/sql';

/** The branding that views receive. Views can write each value into a page without escaping it. */
export interface BrandingView {
  /** Custom properties for a style sheet. Empty if no color is configured. */
  readonly styles: string;
  /** The logo. Null if the application has no logo. */
  readonly logo: {
    readonly src: string;
    readonly dark: string | null;
    readonly showsName: boolean;
  } | null;
}

/** The branding of all pages of an application. */
export interface Branding {
  /** The data for views. */
  readonly view: BrandingView;
  /** The logo files that Portico serves. */
  readonly logos: readonly ServedLogo[];
}

/** A logo that the server has read from a file. */
export interface ServedLogo {
  /** The name of its endpoint. */
  readonly name: string;
  /** The path below `base_path`. */
  readonly path: string;
  /** Returns the response to a request for the logo. */
  readonly respond: (request: Request) => Response;
}

/** The application whose branding is read. */
export interface BrandedPlace {
  /** The application's folder. Null if the folder is unknown. */
  readonly directory: string | null;
  /** The setting `base_path`. */
  readonly basePath: string;
  /** The application's whole configuration. Empty if only `oauth_server` is known. */
  readonly application: Readonly<Record<string, unknown>>;
}

/**
 * The branding, or a list of problems with it. Null if the application uses Portico's own design.
 */
export type FoundBranding =
  Branding | { readonly problems: readonly ConfigurationProblem[] } | null;
