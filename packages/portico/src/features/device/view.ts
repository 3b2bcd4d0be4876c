import type { AccessLasts } from '../../authorization/access-lasts.ts';
import type { ShownLook, ShownPerson, ShownScopeGroup } from '../../authorization/page-data.ts';

/**
 * The data that the view `oauth/device` receives (docs/consent-page.md). The view must escape every
 * value.
 */
export interface DeviceView {
  /** The server's name, from `oauth_server:name`. */
  readonly serverName: string;
  /** The user who is signed in. */
  readonly person: ShownPerson;
  /** The URL that the form is posted to. */
  readonly action: string;
  /** The value of the hidden field `csrf_token` in the form. */
  readonly csrfToken: string;
  /** The code that the user typed or that the link contains. Empty if there is no code. */
  readonly userCode: string;
  /**
   * True if the code comes from a link. The user then compares it with the code on the device
   * instead of typing it.
   */
  readonly isFromLink: boolean;
  /** What is wrong with the code, in the page's language. Null if nothing is wrong. */
  readonly problem: string | null;
  /** The request for the user to answer. Null while the page still asks for the code. */
  readonly question: DeviceQuestion | null;
}

/** What the page asks the user about a client that requests access from a device. */
export interface DeviceQuestion extends ShownLook {
  /** The client's name. */
  readonly clientName: string;
  /** True if the client's name looks like the server's name. */
  readonly namedLikeServer: boolean;
  /** The scopes that the user can allow, grouped under headings. */
  readonly groups: readonly ShownScopeGroup[];
  /** The scopes that the user can allow, as the value of the hidden field `scope`. */
  readonly scope: string;
  /**
   * The label of the resource that the client wants to access. Null if there is no resource, or if
   * it has no label.
   */
  readonly resource: string | null;
  /** How long the client keeps its access. */
  readonly lasts: AccessLasts;
  /** The path of the page where the user can revoke access. */
  readonly applicationsPath: string;
  /**
   * When the device sent the request, as an ISO 8601 date and as a text such as "2 minutes ago".
   */
  readonly began: { readonly iso: string; readonly text: string };
  /** The IP address that the device's request came from. Null if it is unknown. */
  readonly address: string | null;
}

declare module '../../endpoints/replies/views.ts' {
  interface PageData {
    readonly 'oauth/device': DeviceView;
  }
}
