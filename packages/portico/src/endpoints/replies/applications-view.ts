import type {
  ShownLook,
  ShownPerson,
  ShownScope,
  ShownScopeGroup,
} from '../../authorization/page-data.ts';
import type { Destination } from '../../clients/who-asks.ts';

/**
 * The data that the view `oauth/applications` receives (AS-6.10, AS-40, docs/consent-page.md). The
 * view must escape every value.
 */
export interface ApplicationsView {
  /** The server's name, from `oauth_server:name`. */
  readonly serverName: string;
  /** The person who is signed in. */
  readonly person: ShownPerson;
  /** The applications that have access, in the order in which the person first allowed them. */
  readonly applications: readonly ShownApplication[];
  /** Whether the person has just removed an application. */
  readonly removed: boolean;
  /** Whether the person has just removed all applications. */
  readonly removedAll: boolean;
  /** The URL that the forms on the page are posted to. */
  readonly action: string;
  /** The path of the page where the person confirms the removal of all applications. */
  readonly removeAllPath: string;
  /** Whether this page asks the person to confirm the removal of all applications. */
  readonly confirming: boolean;
  /**
   * The value of `csrf_token` in the form that removes all applications. That form also sends
   * `remove` with the value `all`.
   */
  readonly csrfToken: string;
  /** The path of your application's home page. */
  readonly home: string;
}

/** An application that has access to the person's account. */
export interface ShownApplication extends ShownLook {
  /** The client id, which the application's form sends in the field `client_id`. */
  readonly clientId: string;
  /**
   * The name of the application, as registered. For an unverified client, a text that says where
   * the client comes from and that it is not verified.
   */
  readonly name: string;
  /**
   * What the page says about an unverified client. Null for a client that an operator registered.
   */
  readonly unverified: UnverifiedApplication | null;
  /** When the person first allowed the application. */
  readonly since: ShownDate;
  /**
   * The issuers (`iss`) of the organizations that granted access, separated by commas. Null if only
   * the person granted access.
   */
  readonly givenBy: string | null;
  /** When the application last received tokens. Null if it has never received any. */
  readonly lastActive: ShownDate | null;
  /** Where responses to the application go, without duplicates. */
  readonly answersTo: readonly Destination[];
  /** The scopes that the application has now. */
  readonly scopes: readonly ShownScope[];
  /** The scopes that the application has now, grouped under headings. */
  readonly groups: readonly ShownScopeGroup[];
  /** The value of `csrf_token` in the form for this application. */
  readonly csrfToken: string;
}

/** What the page says about an unverified client. */
export interface UnverifiedApplication {
  /**
   * Where the client comes from: a host in ASCII, "a program on this computer", "an application on
   * this device", or several of these.
   */
  readonly from: string;
  /** The name that the client gave itself. Null if pages must not show it. */
  readonly calledName: string | null;
}

/** A date, in UTC. */
export interface ShownDate {
  /** The date in ISO 8601 format. */
  readonly iso: string;
  /** The date as text for the reader. */
  readonly text: string;
}
