import { AccessError, RegistrationError, type Reply } from 'portico';
import {
  AuthorizationPageError,
  HostTimeoutError,
  comesFromHere,
  formParameters,
  inTime,
  ownPageReply,
  queryParameters,
  quoted,
  redirectReply,
  type Parameters,
  type Visitor,
} from 'portico/extension';
import { ADMINISTRATION_TABLE, type AdministrationPageName } from './table.ts';
import { Forms } from './forms.ts';
import { layout } from './layout.ts';
import { pageLinks, type PageLinks } from './links.ts';
import { Notices } from './notices.ts';
import { alert } from './formatting.ts';
import type { AdministrationParts, Asked, Refused, Sent, Shown } from './page.ts';
import { PAGES } from './pages/index.ts';
import { RefusedPeople } from './refused-people.ts';

/**
 * How long to wait for the host to say whether the user has the administrator's permission, in
 * milliseconds.
 */
const PATIENCE = 3000;

/** Handles requests for the administrator's pages. */
export class Administration {
  readonly #parts: AdministrationParts;
  readonly #forms: Forms;
  readonly #links: PageLinks;
  readonly #notices: Notices;
  readonly #refusedPeople: RefusedPeople;

  constructor(parts: AdministrationParts) {
    const { basePath, clock } = parts.server;
    this.#parts = parts;
    this.#forms = new Forms(parts.singleUses, clock);
    this.#links = pageLinks(basePath);
    this.#notices = new Notices(clock);
    this.#refusedPeople = new RefusedPeople(clock);
  }

  /**
   * Answers a request for the page with this name. Shows the page only to users who have the
   * permission in `oauth_server:admin_permission`.
   */
  async answer(name: AdministrationPageName, request: Request): Promise<Reply> {
    const { accounts, permission, server } = this.#parts;
    const form = request.method === 'POST' ? await formParameters(request) : null;
    const visitor = await accounts.visitor(request);
    if (visitor === null) {
      return redirectReply(
        server.host.loginUrl(this.#address(name, request)),
        form === null ? 302 : 303,
      );
    }
    // Accept only `true`, because a host may return another value by mistake, such as an array of
    // rows or a string.
    const isHeld: unknown = await inTime(
      Promise.resolve(server.host.holdsPermission(visitor.user.reference, permission)),
      PATIENCE,
      () => new HostTimeoutError('holdsPermission', PATIENCE),
    );
    if (isHeld !== true) return this.#refuse(visitor, name, 'permission', notAllowed(this.#parts));
    if (form !== null) return this.#post(name, request, form, visitor);
    return this.#reply(await this.#show(name, this.#asked(name, visitor, request)), name, visitor);
  }

  /**
   * Returns the page. If the page rejects a parameter of the request, returns an error page with
   * the reason.
   */
  async #show(name: AdministrationPageName, asked: Asked, refused?: Refused): Promise<Shown> {
    try {
      return await PAGES[name].show(asked, refused);
    } catch (error) {
      if (!(error instanceof AccessError || error instanceof RegistrationError)) throw error;
      return { title: 'Page not found', body: alert({ reason: error.message }), status: 400 };
    }
  }

  async #post(
    name: AdministrationPageName,
    request: Request,
    form: Parameters,
    visitor: Visitor,
  ): Promise<Reply> {
    const { server } = this.#parts;
    const back = this.#address(name, request);
    const refuse = (detail: string) =>
      this.#refuse(visitor, name, 'form', formRefused(detail, back));
    if (!comesFromHere(request, server.origin))
      return this.#refuse(visitor, name, 'origin', otherOrigin(back));
    const sent: Sent = {
      ...this.#asked(name, visitor, request),
      form,
      accept: async (subject) => {
        const refusal = await this.#forms.refusal(visitor, form, subject);
        if (refusal !== null) await refuse(refusal);
      },
    };
    try {
      const done = (await PAGES[name].act?.(sent)) ?? null;
      if (done === null) return refuse('the page has no form with this action');
      if (!('goTo' in done)) return this.#reply(done, name, visitor);
      return redirectReply(
        this.#notices.sign(visitor, name, new URL(done.goTo, server.origin)),
        303,
      );
    } catch (error) {
      if (!(error instanceof RegistrationError || error instanceof AccessError)) throw error;
      return this.#showAgain(sent, error.message, name, visitor);
    }
  }

  /** Returns the page again after a form was rejected, with the submitted values and the error. */
  async #showAgain(
    sent: Sent,
    reason: string,
    name: AdministrationPageName,
    visitor: Visitor,
  ): Promise<Reply> {
    const shown = await this.#show(name, sent, { reason, form: sent.form });
    const text = { title: shown.title, message: reason };
    const refused = new AuthorizationPageError(text, quoted(reason), { code: 'invalid_input' });
    return { ...this.#reply({ ...shown, status: 400 }, name, visitor), refused };
  }

  #asked(name: AdministrationPageName, visitor: Visitor, request: Request): Asked {
    return {
      parts: this.#parts,
      links: this.#links,
      query: queryParameters(request),
      done: this.#notices.in(visitor, name, new URL(request.url)),
      person: visitor.user.reference,
      fields: (subject) => this.#forms.fields(visitor, subject),
    };
  }

  #reply(
    { title, body, status = 200 }: Shown,
    name: AdministrationPageName,
    visitor: Visitor,
  ): Reply {
    const parts = this.#parts;
    const links = this.#links;
    return ownPageReply({ status, formLeadsTo: parts.server.issuer }, (nonce) =>
      layout({ title, body, nonce, links, current: name, visitor, parts }),
    );
  }

  /**
   * Rejects the request by throwing `error`. Emits at most one audit event per minute for each user
   * and reason. The endpoint that called `answer` logs the error.
   */
  async #refuse(
    { user }: Visitor,
    route: AdministrationPageName,
    reason: 'permission' | 'origin' | 'form',
    error: AuthorizationPageError,
  ): Promise<never> {
    const person = user.reference;
    const refusals = this.#refusedPeople.count(person, reason);
    if (refusals !== null)
      await this.#parts.server.audit({ type: 'admin_refused', person, route, reason, refusals });
    throw error;
  }

  /**
   * Returns the path of this page with the query of the request. If a form is rejected, the error
   * page links to this path.
   */
  #address(name: AdministrationPageName, request: Request): string {
    const path = ADMINISTRATION_TABLE.find((each) => each.name === name)?.path ?? '';
    return `${this.#parts.server.basePath}${path}${new URL(request.url).search}`;
  }
}

function notAllowed({ server, home, permission }: AdministrationParts): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'You have no access to this page',
      message:
        'Only administrators of this server can open it. You are signed in with another account.',
    },
    `the person does not have the permission ${permission}`,
    {
      status: 403,
      code: 'access_denied',
      link: { href: home, text: `Back to ${server.config.name}` },
    },
  );
}

function otherOrigin(href: string): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'Request refused',
      message: 'A page of another site sent this request. Nothing was changed.',
    },
    'another origin sent the form',
    { status: 403, code: 'other_origin', link: { href, text: 'Open the page here' } },
  );
}

function formRefused(detail: string, href: string): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'Request refused',
      message:
        'The form was already sent, is too old, or was shown to another person, or the data ' +
        'has changed. Nothing was changed. ' +
        'Open the page again and check what is left to do.',
    },
    detail,
    { code: 'form_not_accepted', link: { href, text: 'Open the page again' } },
  );
}
