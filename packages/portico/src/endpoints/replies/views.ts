import type { BrandingView } from '../../pages/branding.ts';
import type { Words } from '../../pages/words.ts';
import type { ApplicationsView } from './applications-view.ts';
import type { ConsentView } from '../../authorization/consent-page.ts';

/** The data that the view `oauth/error` receives. The view must escape every value. */
export interface ErrorView {
  /** The server's name, from `oauth_server:name`. */
  readonly serverName: string;
  /** A short title that says what happened. */
  readonly title: string;
  /** What the error means, and what the user can do. */
  readonly message: string;
  /** The HTTP status of the page: 200, or 400 to 599. */
  readonly status: number;
  /** The request's id, which is also in the log. Null if the request has no id. */
  readonly requestId: string | null;
  /** The exact reason for the error. Null, except during development. */
  readonly detail: string | null;
  /** A link that continues, or null. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

/** The data for the view of each page. Every view also receives the data in `EveryView`. */
export interface PageData {
  readonly 'oauth/consent': ConsentView;
  readonly 'oauth/applications': ApplicationsView;
  readonly 'oauth/error': ErrorView;
}

/** The data that every view receives: the texts in the view's language, and these values. */
export interface EveryView extends Words {
  /** The nonce that allows the page's styles in its content security policy. */
  readonly nonce: string;
  /** The logo and colors of the page. Missing if `branding` is not set. */
  readonly branding?: BrandingView;
}

/**
 * The data that `Host.render` receives for each view. Use the type like this:
 * `data as OAuthViews['oauth/consent']`.
 */
export type OAuthViews = { readonly [View in keyof PageData]: PageData[View] & EveryView };
