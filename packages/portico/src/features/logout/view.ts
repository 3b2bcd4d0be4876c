import type { ShownPerson } from '../../authorization/page-data.ts';

/**
 * The data that the view `oauth/logout` receives (docs/signing-out.md). The view must escape every
 * value.
 */
export interface LogoutView {
  /** From `oauth_server:name`. */
  readonly serverName: string;
  /** The name of the client that sent the request. Null if no operator registered the client. */
  readonly clientName: string | null;
  readonly person: ShownPerson;
  /** The URL that the form is posted to. */
  readonly action: string;
  /** The value of the hidden field `request`. */
  readonly request: string;
  /** The value of the hidden field `csrf_token`. */
  readonly csrfToken: string;
}

declare module '../../endpoints/replies/views.ts' {
  interface PageData {
    readonly 'oauth/logout': LogoutView;
  }
}
