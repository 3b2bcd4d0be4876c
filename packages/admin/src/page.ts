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

/** A function that answers a request for the page with this name. */
export type AnswerAdministration = (
  name: AdministrationPageName,
  request: Request,
) => Promise<Reply>;

/** The services and settings that the administrator's pages use. */
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
  /** Returns all schema migrations, and when each one was applied. */
  readonly migrations: Server['migrations'];
  /** The branding, or null if none is configured. */
  readonly branding: BrandingView | null;
  /** The URL of the application's first page. */
  readonly home: string;
}

/** A request for a page, from a user who has the permission in `oauth_server:admin_permission`. */
export interface Asked {
  readonly parts: AdministrationParts;
  readonly links: PageLinks;
  readonly query: Parameters;
  /** The name of the action that a form has just completed. Empty if no form was sent. */
  readonly done: string;
  /** The signed-in user. The audit log records that this user performed the action. */
  readonly person: PersonReference;
  /** Returns the hidden fields for a form on this page. */
  readonly fields: (subject: FormSubject) => Html;
}

/** A request that submits a form. */
export interface Sent extends Asked {
  readonly form: Parameters;
  /**
   * Checks the form and marks it as used. Throws if the form is rejected. Call this function
   * immediately before you perform the action.
   */
  readonly accept: (subject: FormSubject) => Promise<void>;
}

/** The content of a page. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** The HTTP status of the response. Default: 200. */
  readonly status?: number;
}

/** Why a form was rejected, and the submitted values. */
export interface Refused {
  readonly reason: string;
  readonly form: Parameters;
}

/** One of the administrator's pages. */
export interface Page {
  /** Shows the page. `refused` is set if a form was rejected. */
  show(asked: Asked, refused?: Refused): Promise<Shown>;
  /**
   * Performs the action of the submitted form. If a value is invalid, changes nothing and throws a
   * RegistrationError or an AccessError. Otherwise, returns one of these results:
   *
   * - `goTo`: the URL to redirect the browser to. Its parameter `done` names the action. The caller
   *   signs this parameter.
   * - A page, for a result that must not be in a URL, such as a new secret.
   * - Null, if this page has no form with this action.
   */
  act?(sent: Sent): Promise<Shown | { readonly goTo: string } | null>;
}
