import type { BrandingView } from '../contracts/branding.ts';
import type { Words } from '../words/words.ts';
import type { ApplicationsView } from './applications-view.ts';
import type { ConsentView } from '../authorization/consent-page.ts';

/** The data of the view `oauth/error`. Escape all of it. */
export interface ErrorView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** What happened, in a few words. */
  readonly title: string;
  /** What it means, and what to do. */
  readonly message: string;
  /** 200, or 400 to 599. */
  readonly status: number;
  /** The id of the request in the log; null if it has none. */
  readonly requestId: string | null;
  /** The exact reason, in development; null otherwise. */
  readonly detail: string | null;
  /** Where to continue; null if there is no such page. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

/** The data of each page, besides what all pages get. */
export interface PageData {
  readonly 'oauth/consent': ConsentView;
  readonly 'oauth/applications': ApplicationsView;
  readonly 'oauth/error': ErrorView;
}

/** What every view gets besides its own data: the texts of its language, and these. */
export interface EveryView extends Words {
  /** The nonce of the page's styles in its content security policy. */
  readonly nonce: string;
  /** The logo and the colours; left out unless `branding` is set. */
  readonly branding?: BrandingView;
}

/** The data that `Host.render` receives for each view: `data as OAuthViews['oauth/consent']`. */
export type OAuthViews = { readonly [View in keyof PageData]: PageData[View] & EveryView };
