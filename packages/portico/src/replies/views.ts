import type { BrandingView } from '../defaults/branding/branding.ts';
import type { Words } from '../words/words.ts';
import type { ApplicationsView } from './applications-view.ts';
import type { ConsentView } from '../authorization/consent-page.ts';

/** What the view `oauth/error` is rendered with. All of it is to be escaped. */
export interface ErrorView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** What happened, in a few words. */
  readonly title: string;
  /** What it means, and what to do. */
  readonly message: string;
  /** 200, or 400 to 599. */
  readonly status: number;
  /** By which the log names the request; null when it has none. */
  readonly requestId: string | null;
  /** Which of the possible reasons it was, in development; null otherwise. */
  readonly detail: string | null;
  /** Where to go on; null when there is nowhere. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

/** The data of each page, beside what all are given. */
export interface PageData {
  readonly 'oauth/consent': ConsentView;
  readonly 'oauth/applications': ApplicationsView;
  readonly 'oauth/error': ErrorView;
}

/** What every view is given beside its own data: the words of its language, and these. */
export interface EveryView extends Words {
  /** Of the styles of this page, in its content security policy. */
  readonly nonce: string;
  /** The logo and the colours; left out unless `branding` is set. */
  readonly branding?: BrandingView;
}

/** What `Host.render` is given for each view: `data as OAuthViews['oauth/consent']`. */
export type OAuthViews = { readonly [View in keyof PageData]: PageData[View] & EveryView };
