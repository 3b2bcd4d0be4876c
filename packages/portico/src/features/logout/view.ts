import type { ShownPerson } from '../../authorization/page-data.ts';

/**
 * The data that the view `oauth/logout` receives (docs/signing-out.md). The view must escape every
 * value.
 */
export interface LogoutView {
  /** The server's name (`oauth_server:name`). */
  readonly serverName: string;
  /**
   * The name of the client that sent the request if an operator registered this client. Otherwise,
   * null.
   */
  readonly clientName: string | null;
  /** The signed-in user. */
  readonly person: ShownPerson;
  /** The URL to which the form is posted. */
  readonly action: string;
  /** The value of the form's hidden field `request`. */
  readonly request: string;
  /** The value of the form's hidden field `csrf_token`. */
  readonly csrfToken: string;
}

declare module '../../endpoints/replies/views.ts' {
  interface PageData {
    readonly 'oauth/logout': LogoutView;
  }
}
