import type { BrandingView } from '../../pages/branding.ts';
import type { Words } from '../../pages/words.ts';
import type { ApplicationsView } from './applications-view.ts';
import type { ConsentView } from '../../authorization/consent-page.ts';

/** The data for the view `oauth/error`. Escape every value. */
export interface ErrorView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** A short title that says what happened. */
  readonly title: string;
  /** What the error means and what to do. */
  readonly message: string;
  /** The HTTP status: 200, or 400 to 599. */
  readonly status: number;
  /** The request's id in the log, or null. */
  readonly requestId: string | null;
  /** The exact reason. Null except during development. */
  readonly detail: string | null;
  /** A link to continue, or null. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

/** The data for each page. Every page also gets the data in `EveryView`. */
export interface PageData {
  readonly 'oauth/consent': ConsentView;
  readonly 'oauth/applications': ApplicationsView;
  readonly 'oauth/error': ErrorView;
}

/** The data for every view: the texts in the view's language, and these values. */
export interface EveryView extends Words {
  /** The nonce for the page's styles in its content security policy. */
  readonly nonce: string;
  /** The logo and the colors. Missing if `branding` is not set. */
  readonly branding?: BrandingView;
}

/**
 * The data that `Host.render` receives for each view. Use it like this: `data as
 * OAuthViews['oauth/consent']`.
 */
export type OAuthViews = { readonly [View in keyof PageData]: PageData[View] & EveryView };
