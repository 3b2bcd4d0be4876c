import { inTime } from '../../http/in-time.ts';
import { comesFromHere } from '../../http/same-origin.ts';
import type { Visitor } from '../accounts.ts';
import { ADMINISTRATION_TABLE, type AdministrationPageName } from '../endpoints/table.ts';
import { AccessError, AuthorizationPageError, HostTimeoutError, RegistrationError } from '../errors.ts';
import { formParameters, queryParameters, type Parameters } from '../parameters.ts';
import { quoted } from '../quoting.ts';
import { ownPageReply, redirectReply } from '../replies/pages.ts';
import type { Reply } from '../replies/responses.ts';
import { createForms } from './forms.ts';
import { layout } from './layout.ts';
import { pageLinks } from './links.ts';
import { createNotices } from './notices.ts';
import { alert } from './formatting.ts';
import type { AdministrationParts, AnswerAdministration, Asked, Sent, Shown } from './page.ts';
import { PAGES } from './pages/index.ts';
import { createRefusedPeople } from './refused-people.ts';

/** For how long a page waits for the host to say who may see it, in milliseconds. */
const PATIENCE = 3000;

export function createAdministration(parts: AdministrationParts): AnswerAdministration {
  const { server, accounts, permission } = parts;
  const { host } = server;
  const forms = createForms({ singleUses: parts.singleUses, clock: server.clock });
  const links = pageLinks(server.basePath);
  const notices = createNotices(server.clock);
  const refusedPeople = createRefusedPeople(server.clock);

  /** Refuses, and leaves an event with who it was, once in a while; the endpoint leaves the line in the log. */
  async function refuse(
    { user }: Visitor,
    route: AdministrationPageName,
    reason: 'permission' | 'origin' | 'form',
    error: AuthorizationPageError,
  ): Promise<never> {
    const person = user.reference;
    const refusals = refusedPeople.count(person, reason);
    if (refusals !== null) await server.audit({ type: 'admin_refused', person, route, reason, refusals });
    throw error;
  }

  function asked(name: AdministrationPageName, visitor: Visitor, request: Request): Asked {
    return {
      parts,
      links,
      query: queryParameters(request),
      done: notices.in(visitor, name, new URL(request.url)),
      person: visitor.user.reference,
      fields: (subject) => forms.fields(visitor, subject),
    };
  }

  function reply(
    { title, body, status = 200 }: Shown,
    name: AdministrationPageName,
    visitor: Visitor,
  ): Reply {
    return ownPageReply({ status, formLeadsTo: server.issuer }, (nonce) =>
      layout({ title, body, nonce, links, current: name, visitor, parts }),
    );
  }

  /** What nobody can ask for is said on a page of these, too. */
  async function shown(name: AdministrationPageName, visitor: Visitor, request: Request): Promise<Shown> {
    try {
      return await PAGES[name].show(asked(name, visitor, request));
    } catch (error) {
      if (!(error instanceof AccessError || error instanceof RegistrationError)) throw error;
      return { title: 'There is no such page', body: alert({ reason: error.message }), status: 400 };
    }
  }

  async function post(name: AdministrationPageName, request: Request, form: Parameters, visitor: Visitor) {
    const page = PAGES[name];
    const back = `${pathOf(name, server.basePath)}${new URL(request.url).search}`;
    if (!comesFromHere(request, server.origin)) return refuse(visitor, name, 'origin', otherOrigin(back));
    const sent: Sent = {
      ...asked(name, visitor, request),
      form,
      async accept(subject) {
        const refusal = await forms.refusal(visitor, form, subject);
        if (refusal !== null) await refuse(visitor, name, 'form', formRefused(refusal, back));
      },
    };
    try {
      const done = (await page.act?.(sent)) ?? null;
      if (done === null)
        return refuse(visitor, name, 'form', formRefused('no form of the page does this', back));
      if (!('goTo' in done)) return reply(done, name, visitor);
      return redirectReply(notices.sign(visitor, name, new URL(done.goTo, server.origin)), 303);
    } catch (error) {
      if (!(error instanceof RegistrationError || error instanceof AccessError)) throw error;
      const shown = await page.show(sent, { reason: error.message, form });
      const about = { code: 'invalid_input' };
      const refused = new AuthorizationPageError(
        { title: shown.title, message: error.message },
        quoted(error.message),
        about,
      );
      return { ...reply({ ...shown, status: 400 }, name, visitor), refused };
    }
  }

  return async (name, request) => {
    const form = request.method === 'POST' ? await formParameters(request) : null;
    const visitor = await accounts.visitor(request);
    if (visitor === null) {
      const here = `${pathOf(name, server.basePath)}${new URL(request.url).search}`;
      return redirectReply(host.loginUrl(here), form === null ? 302 : 303);
    }
    // Whatever else a host answers, such as rows or a text, is no yes.
    const isHeld: unknown = await inTime(
      Promise.resolve(host.holdsPermission(visitor.user.reference, permission)),
      PATIENCE,
      () => new HostTimeoutError('holdsPermission', PATIENCE),
    );
    if (isHeld !== true) {
      return refuse(visitor, name, 'permission', notAllowed(parts));
    }
    if (form !== null) return post(name, request, form, visitor);
    return reply(await shown(name, visitor, request), name, visitor);
  };
}

function pathOf(name: AdministrationPageName, basePath: string): string {
  return `${basePath}${ADMINISTRATION_TABLE.find((each) => each.name === name)?.path ?? ''}`;
}

function notAllowed({ server, home, permission }: AdministrationParts): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'You have no access to this page',
      message:
        'It is for those who administer this server, and the account that you are signed in with may not.',
    },
    `the person does not hold ${permission}`,
    { status: 403, code: 'access_denied', link: { href: home, text: `Back to ${server.config.name}` } },
  );
}

function otherOrigin(href: string): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'This was not accepted',
      message: 'It was sent by a page of another site. Nothing was changed.',
    },
    'another origin sent the form',
    { status: 403, code: 'other_origin', link: { href, text: 'Open the page here' } },
  );
}

function formRefused(detail: string, href: string): AuthorizationPageError {
  return new AuthorizationPageError(
    {
      title: 'This was not accepted',
      message:
        'The form was sent before, is old, or was shown to somebody else, or what it is about has changed since. Nothing was changed now. ' +
        'Open the page again, and look whether there is still something to do.',
    },
    detail,
    { code: 'form_not_accepted', link: { href, text: 'Open the page again' } },
  );
}
