import type {
  AuthorizationServer,
  BrandingView,
  Database,
  ExaminedApplication,
  PersonReference,
  Reply,
  Server,
} from 'portico';
import type { Parameters } from 'portico/extension';
import type { AdministrationPageName } from './table.ts';
import type { FormSubject } from './forms.ts';
import type { PageLinks } from './links.ts';
import type { Html } from './html.ts';

/** Answers a request for the page with this name. */
export type AnswerAdministration = (
  name: AdministrationPageName,
  request: Request,
) => Promise<Reply>;

/** The parts that the administrator's pages use. */
export interface AdministrationParts {
  readonly server: AuthorizationServer;
  /** `oauth_server:admin_permission`. */
  readonly permission: string;
  readonly accounts: Server['accounts'];
  readonly singleUses: Server['singleUses'];
  readonly scopes: Server['scopes'];
  /** The application that the doctor examines. Null when only the store is known. */
  readonly examined: ExaminedApplication | null;
  readonly store: Server['store']['authorizationSearch'];
  readonly database: Database;
  /** Returns every schema migration, with the time at which it was applied. */
  readonly migrations: Server['migrations'];
  /** The branding, or null if it is not set. */
  readonly branding: BrandingView | null;
  /** The application's first page. */
  readonly home: string;
}

/** A request for a page, from a person who has the permission. */
export interface Asked {
  readonly parts: AdministrationParts;
  readonly links: PageLinks;
  readonly query: Parameters;
  /** The name of what a form has just done. Empty otherwise. */
  readonly done: string;
  /** The signed-in person, who is recorded for all actions. */
  readonly person: PersonReference;
  /** Returns the hidden fields for a form on this page. */
  readonly fields: (subject: FormSubject) => Html;
}

/** A submitted form. */
export interface Sent extends Asked {
  readonly form: Parameters;
  /** Uses up the form. Throws if the form is rejected. Call this right before the action. */
  readonly accept: (subject: FormSubject) => Promise<void>;
}

/** The content of a page. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** The response's status. Defaults to 200. */
  readonly status?: number;
}

/** Why a submitted form was rejected, and its values. */
export interface Refused {
  readonly reason: string;
  readonly form: Parameters;
}

/** One of the pages. */
export interface Page {
  /** Shows the page, even after a form was rejected. */
  show(asked: Asked, refused?: Refused): Promise<Shown>;
  /**
   * Does a form's action. Returns the address to which the browser is redirected. Its parameter
   * `done` names what was done and is signed later. If the result must not be in an address,
   * returns a page instead. Returns null when none of the page's forms has this action. For invalid
   * values, changes nothing and throws a RegistrationError or an AccessError.
   */
  act?(sent: Sent): Promise<Shown | { readonly goTo: string } | null>;
}
