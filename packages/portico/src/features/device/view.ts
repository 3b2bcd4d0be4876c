import type { AccessLasts } from '../../authorization/access-lasts.ts';
import type { ShownLook, ShownPerson, ShownScopeGroup } from '../../authorization/page-data.ts';

/** The data for the view `oauth/device` (docs/consent-page.md). Escape every value. */
export interface DeviceView {
  /** The server's name (`oauth_server:name`). */
  readonly serverName: string;
  /** The signed-in user. */
  readonly person: ShownPerson;
  /** The URL that the form is posted to. */
  readonly action: string;
  /** The value of the form's hidden field `csrf_token`. */
  readonly csrfToken: string;
  /** The code that the user typed or that the link contains. Empty if there is no code. */
  readonly userCode: string;
  /**
   * Whether the code comes from a link. If so, the user only compares it with the code on the
   * device.
   */
  readonly isFromLink: boolean;
  /** What is wrong with the code, in the page's language. Null if nothing is wrong. */
  readonly problem: string | null;
  /** The request that the user answers. Null while the page still asks for the code. */
  readonly question: DeviceQuestion | null;
}

/** A client that requests access from a device. */
export interface DeviceQuestion extends ShownLook {
  /** The client's name. */
  readonly clientName: string;
  /** Whether the client's name resembles the server's. */
  readonly namedLikeServer: boolean;
  /** The scopes that the user can allow, by group. */
  readonly groups: readonly ShownScopeGroup[];
  /** The same scopes, for the form's hidden field `scope`. */
  readonly scope: string;
  /** The label of the resource that the access is for. Null if the resource has no label. */
  readonly resource: string | null;
  /** How long the client has access. */
  readonly lasts: AccessLasts;
  /** The path of the page where the user can revoke access. */
  readonly applicationsPath: string;
  /**
   * When the device sent the request, as an ISO 8601 date and as a text such as "2 minutes ago".
   */
  readonly began: { readonly iso: string; readonly text: string };
  /** The address that sent the device's request. Null if unknown. */
  readonly address: string | null;
}

declare module '../../endpoints/replies/views.ts' {
  interface PageData {
    readonly 'oauth/device': DeviceView;
  }
}
