import type { Database } from '@portico/sql';
import type { BrandingView } from '../../defaults/branding/branding.ts';
import type { PersonReference } from '../../contracts/person.ts';
import type { Accounts } from '../../accounts.ts';
import type { AuthorizationServer } from '../../authorization-server.ts';
import type { ExaminedApplication } from '../../console/subject.ts';
import type { AdministrationPageName } from './table.ts';
import type { Parameters } from '../../parameters.ts';
import type { Reply } from '../../replies/responses.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import type { AuthorizationSearch } from '../../store/sql/authorization-search.ts';
import type { ScopeCatalog } from '../../tokens/scopes.ts';
import type { FormSubject } from './forms.ts';
import type { PageLinks } from './links.ts';
import type { Html } from './html.ts';

/** Answers a request for the page of this name. */
export type AnswerAdministration = (name: AdministrationPageName, request: Request) => Promise<Reply>;

/** What the administrator's pages are made of. */
export interface AdministrationParts {
  readonly server: AuthorizationServer;
  /** `oauth_server:admin_permission`. */
  readonly permission: string;
  readonly accounts: Accounts;
  readonly singleUses: SingleUses;
  readonly scopes: ScopeCatalog;
  /** What the doctor looks at; null when nothing but the store is known of the application. */
  readonly examined: ExaminedApplication | null;
  readonly store: AuthorizationSearch;
  readonly database: Database;
  /** Null unless it is set. */
  readonly branding: BrandingView | null;
  /** The application's own first page. */
  readonly home: string;
}

/** A request for a page, of somebody who holds the permission. */
export interface Asked {
  readonly parts: AdministrationParts;
  readonly links: PageLinks;
  readonly query: Parameters;
  /** What a form of theirs has just done, as its page named it; empty for whoever only follows a link. */
  readonly done: string;
  /** Who asks: what is done is done by them. */
  readonly person: PersonReference;
  /** The hidden fields of a form of this page. */
  readonly fields: (subject: FormSubject) => Html;
}

/** A form that was sent. */
export interface Sent extends Asked {
  readonly form: Parameters;
  /** Takes the form, once; throws what refuses it. To be called before anything is done, and followed by that. */
  readonly accept: (subject: FormSubject) => Promise<void>;
}

/** What a page says. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  /** 200 unless given. */
  readonly status?: number;
}

/** Why a form that was sent was not acted on, and what was in it. */
export interface Refused {
  readonly reason: string;
  readonly form: Parameters;
}

/** One of the pages. */
export interface Page {
  /** What it shows, also of a form that was refused. */
  show(asked: Asked, refused?: Refused): Promise<Shown>;
  /**
   * Does what a form asks, and says where the browser goes then, with what was done as the parameter `done`, which is signed; or shows what must not be in an address. Null when no form of the page
   * asks for that. Throws a RegistrationError or an AccessError for values that cannot be, having changed
   * nothing.
   */
  act?(sent: Sent): Promise<Shown | { readonly goTo: string } | null>;
}
