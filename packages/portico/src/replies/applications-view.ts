import type { ShownLook, ShownPerson, ShownScope, ShownScopeGroup } from '../authorization/page-data.ts';
import type { Destination } from '../clients/who-asks.ts';

/** The data of the view `oauth/applications` (AS-6.10, AS-40, docs/pages.md). Escape all of it. */
export interface ApplicationsView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** The signed-in person. */
  readonly person: ShownPerson;
  /** In the order in which they were first allowed. */
  readonly applications: readonly ShownApplication[];
  /** Whether the page answers a removal. */
  readonly removed: boolean;
  /** Whether that removed all of them. */
  readonly removedAll: boolean;
  /** The URL that the forms post to. */
  readonly action: string;
  /** The page that asks whether to remove all of them. */
  readonly removeAllPath: string;
  /** Whether this page asks that. */
  readonly confirming: boolean;
  /** The `csrf_token` of the form that removes all, with `remove` = `all`. */
  readonly csrfToken: string;
  /** The application's own first page. */
  readonly home: string;
}

/** An application that has access. */
export interface ShownApplication extends ShownLook {
  /** Its `csrf_token`. */
  readonly clientId: string;
  /** As registered. For an unverified client, its origin and that it is not verified. */
  readonly name: string;
  /** Null for a client that an operator registered. */
  readonly unverified: UnverifiedApplication | null;
  /** When the person first allowed it. */
  readonly since: ShownDate;
  /** When tokens were last issued to it; null if never. */
  readonly lastActive: ShownDate | null;
  /** The places of its answers, each once. */
  readonly answersTo: readonly Destination[];
  /** Its current rights. */
  readonly scopes: readonly ShownScope[];
  /** The same by group. */
  readonly groups: readonly ShownScopeGroup[];
  /** For its form. */
  readonly csrfToken: string;
}

/** About a client that no operator registered. */
export interface UnverifiedApplication {
  /**
   * A host in ASCII, "a program on this computer" or "an application on this device", or several.
   */
  readonly from: string;
  /** Its self-given name; null if that must not be shown. */
  readonly calledName: string | null;
}

/** A day, in UTC. */
export interface ShownDate {
  /** ISO 8601. */
  readonly iso: string;
  /** In words. */
  readonly text: string;
}
