import type { ShownPerson } from '../../authorization/page-data.ts';

/** The data for the view `oauth/logout` (docs/signing-out.md). Escape every value. */
export interface LogoutView {
  /** The server's name (`oauth_server:name`). */
  readonly serverName: string;
  /** The name of the client that sent the request, if an operator registered it. Otherwise null. */
  readonly clientName: string | null;
  /** The signed-in user. */
  readonly person: ShownPerson;
  /** The URL that the form is posted to. */
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
