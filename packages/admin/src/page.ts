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
export type AnswerAdministration = (name: AdministrationPageName, request: Request) => Promise<Reply>;

/** What the administrator's pages are built from. */
export interface AdministrationParts {
  readonly server: AuthorizationServer;
  /** `oauth_server:admin_permission`. */
  readonly permission: string;
  readonly accounts: Server['accounts'];
  readonly singleUses: Server['singleUses'];
  readonly scopes: Server['scopes'];
  /** What the doctor examines. Null when only the application's store is known. */
  readonly examined: ExaminedApplication | null;
  readonly store: Server['store']['authorizationSearch'];
  readonly database: Database;
  /** Null unless it is set. */
  readonly branding: BrandingView | null;
  /** The application's first page. */
  readonly home: string;
}

/** A request for a page, from a person who has the permission. */
export interface Asked {
  readonly parts: AdministrationParts;
  readonly links: PageLinks;
  readonly query: Parameters;
  /** What a form has just done, as its page named it. Empty otherwise. */
  readonly done: string;
  /** The person who asks, and in whose name actions are done. */
  readonly person: PersonReference;
  /** The hidden fields of a form on this page. */
  readonly fields: (subject: FormSubject) => Html;
}

/** A submitted form. */
export interface Sent extends Asked {
  readonly form: Parameters;
  /**
   * Uses up the form; throws if it is refused. Call it before the action, and do the action right
   * after it.
   */
  readonly accept: (subject: FormSubject) => Promise<void>;
}

/** The content of a page. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** 200 unless given. */
  readonly status?: number;
}

/** Why a submitted form was not acted on, and its values. */
export interface Refused {
  readonly reason: string;
  readonly form: Parameters;
}

/** One of the pages. */
export interface Page {
  /** Shows the page, also after a form was refused. */
  show(asked: Asked, refused?: Refused): Promise<Shown>;
  /**
   * Does what a form asks. Returns where the browser goes next, with what was done as the parameter
   * `done`, which is then signed. Or returns a page, for something that must not be in an address.
   * Null when no form of the page has this action. Throws a RegistrationError or an AccessError for
   * invalid values; then nothing has changed.
   */
  act?(sent: Sent): Promise<Shown | { readonly goTo: string } | null>;
}
