import type { ShownLook, ShownPerson, ShownScope, ShownScopeGroup } from '../authorization/page-data.ts';
import type { Destination } from '../clients/who-asks.ts';

/** What the view `oauth/applications` is rendered with (AS-6.10, AS-40, docs/pages.md). All of it is to be escaped. */
export interface ApplicationsView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** Who is signed in. */
  readonly person: ShownPerson;
  /** In the order in which they were first allowed. */
  readonly applications: readonly ShownApplication[];
  /** Whether the page answers to a removal. */
  readonly removed: boolean;
  /** Whether that was the removal of all. */
  readonly removedAll: boolean;
  /** Where the forms are posted. */
  readonly action: string;
  /** Where the person is asked whether all is to be removed. */
  readonly removeAllPath: string;
  /** Whether the page asks that. */
  readonly confirming: boolean;
  /** The `csrf_token` of the form that removes all, with `remove` = `all`. */
  readonly csrfToken: string;
  /** The application's own first page. */
  readonly home: string;
}

/** An application that has access. */
export interface ShownApplication extends ShownLook {
  /** For its form. */
  readonly clientId: string;
  /** As registered. For a client that no operator registered, where it comes from, and that no one has verified it. */
  readonly name: string;
  /** Null for a client that an operator registered. */
  readonly unverified: UnverifiedApplication | null;
  /** When the person first allowed it. */
  readonly since: ShownDate;
  /** When tokens were last issued to it; null when none were. */
  readonly lastActive: ShownDate | null;
  /** Where it is answered, each place once. */
  readonly answersTo: readonly Destination[];
  /** What it may do now. */
  readonly scopes: readonly ShownScope[];
  /** The same by what it is about. */
  readonly groups: readonly ShownScopeGroup[];
  /** For its form. */
  readonly csrfToken: string;
}

/** Of a client that no operator registered. */
export interface UnverifiedApplication {
  /** A host in ASCII, "a program on this computer" or "an application on this device", or several. */
  readonly from: string;
  /** What it calls itself; null when that must not be shown. */
  readonly calledName: string | null;
}

/** A day, in UTC. */
export interface ShownDate {
  /** ISO 8601. */
  readonly iso: string;
  /** In words. */
  readonly text: string;
}
