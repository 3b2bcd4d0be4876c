import type {
  ShownLook,
  ShownPerson,
  ShownScope,
  ShownScopeGroup,
} from '../../authorization/page-data.ts';
import type { Destination } from '../../clients/who-asks.ts';

/**
 * Data for the view `oauth/applications` (AS-6.10, AS-40, docs/consent-page.md). Escape every
 * value.
 */
export interface ApplicationsView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** The signed-in person. */
  readonly person: ShownPerson;
  /** The applications with access, in the order in which the person allowed them. */
  readonly applications: readonly ShownApplication[];
  /** Whether the person has just removed an application. */
  readonly removed: boolean;
  /** Whether the person has just removed all applications. */
  readonly removedAll: boolean;
  /** The URL that the forms post to. */
  readonly action: string;
  /** The path of the page where the person confirms the removal of all applications. */
  readonly removeAllPath: string;
  /** Whether this page asks the person to confirm the removal of all applications. */
  readonly confirming: boolean;
  /**
   * The `csrf_token` for the form that removes all applications. That form also sends `remove` =
   * `all`.
   */
  readonly csrfToken: string;
  /** The path of your application's home page. */
  readonly home: string;
}

/** An application that has access. */
export interface ShownApplication extends ShownLook {
  /** The client id, for the field `client_id` of the form. */
  readonly clientId: string;
  /**
   * The registered name. For an unverified client, its origin with the note that it is not
   * verified.
   */
  readonly name: string;
  /**
   * The facts that the page shows about an unverified client. Null for a client that an operator
   * registered.
   */
  readonly unverified: UnverifiedApplication | null;
  /** When the person first allowed the application. */
  readonly since: ShownDate;
  /**
   * The issuers (`iss`) of the organizations that granted access, separated by commas. Null if only
   * the person granted access.
   */
  readonly givenBy: string | null;
  /** When the application last received tokens. Null if it never did. */
  readonly lastActive: ShownDate | null;
  /** The destinations of the application's responses, without duplicates. */
  readonly answersTo: readonly Destination[];
  /** The application's current scopes. */
  readonly scopes: readonly ShownScope[];
  /** The application's current scopes, in groups. */
  readonly groups: readonly ShownScopeGroup[];
  /** The `csrf_token` for this application's form. */
  readonly csrfToken: string;
}

/** The facts that the page shows about a client that no operator registered. */
export interface UnverifiedApplication {
  /**
   * The client's origin: a host in ASCII, "a program on this computer", "an application on this
   * device", or several of these.
   */
  readonly from: string;
  /** The name that the client gave itself. Null if pages must not show it. */
  readonly calledName: string | null;
}

/** A day, in UTC. */
export interface ShownDate {
  /** The date in ISO 8601 format. */
  readonly iso: string;
  /** The date as text. */
  readonly text: string;
}
