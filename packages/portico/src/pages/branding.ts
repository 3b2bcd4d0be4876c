import type { ConfigurationProblem } from '@portico/sql';

/** The branding data for views. All values are safe to write into a page without escaping. */
export interface BrandingView {
  /** CSS custom properties for a style sheet. Empty if no color is configured. */
  readonly styles: string;
  /** The logo of the application. Null if the application has no logo. */
  readonly logo: {
    readonly src: string;
    readonly dark: string | null;
    readonly showsName: boolean;
  } | null;
}

/** The branding of an application, which all pages share. */
export interface Branding {
  /** The data for views. */
  readonly view: BrandingView;
  /** The logo files that Portico serves to browsers. */
  readonly logos: readonly ServedLogo[];
}

/** A logo that the server has read from a file. */
export interface ServedLogo {
  /** The name of the endpoint that serves the logo. */
  readonly name: string;
  /** The path of the logo, relative to `base_path`. */
  readonly path: string;
  /** Returns the response to a request for this logo. */
  readonly respond: (request: Request) => Response;
}

/** Where to find the branding of an application. */
export interface BrandedPlace {
  /** The folder of the application. Null if unknown. */
  readonly directory: string | null;
  /** The setting `base_path`. */
  readonly basePath: string;
  /** The complete configuration of the application. Empty if only `oauth_server` is known. */
  readonly application: Readonly<Record<string, unknown>>;
}

/** The branding, or its problems. Null if the application uses Portico's standard design. */
export type FoundBranding =
  Branding | { readonly problems: readonly ConfigurationProblem[] } | null;
