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

/** The objects that the administrator's pages use. */
export interface AdministrationParts {
  readonly server: AuthorizationServer;
  /** The setting `oauth_server:admin_permission`. */
  readonly permission: string;
  readonly accounts: Server['accounts'];
  readonly singleUses: Server['singleUses'];
  readonly scopes: Server['scopes'];
  /** The application that the doctor examines. Null if the server was created without the kit. */
  readonly examined: ExaminedApplication | null;
  readonly store: Server['store']['authorizationSearch'];
  readonly database: Database;
  /** Returns all schema migrations and when each was applied. */
  readonly migrations: Server['migrations'];
  /** The branding, or null if it is not set. */
  readonly branding: BrandingView | null;
  /** The URL of the application's first page. */
  readonly home: string;
}

/**
 * A request for a page. The user who sent it has the permission in `oauth_server:admin_permission`.
 */
export interface Asked {
  readonly parts: AdministrationParts;
  readonly links: PageLinks;
  readonly query: Parameters;
  /** The action that a form has just completed. Empty if no form was sent. */
  readonly done: string;
  /** The user who is signed in. The audit log names this user in every action. */
  readonly person: PersonReference;
  /** Returns the hidden fields of a form on this page. */
  readonly fields: (subject: FormSubject) => Html;
}

/** A request that contains a form. */
export interface Sent extends Asked {
  readonly form: Parameters;
  /**
   * Checks the form and marks it as used. Throws if the form is rejected. Call this function
   * directly before the action.
   */
  readonly accept: (subject: FormSubject) => Promise<void>;
}

/** The content of a page. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** The status of the response. Default: 200. */
  readonly status?: number;
}

/** Why a form was rejected, and the values in the form. */
export interface Refused {
  readonly reason: string;
  readonly form: Parameters;
}

/** One of the administrator's pages. */
export interface Page {
  /** Shows the page. `refused` is set if a form was rejected. */
  show(asked: Asked, refused?: Refused): Promise<Shown>;
  /**
   * Performs a form's action. If a value is invalid, changes nothing and throws a RegistrationError
   * or an AccessError. Returns one of these results:
   *
   * - A URL to redirect the browser to. Its parameter `done` names the action. The caller signs
   *   this parameter.
   * - A page, if the result must not be in a URL.
   * - Null, if no form of the page has this action.
   */
  act?(sent: Sent): Promise<Shown | { readonly goTo: string } | null>;
}
