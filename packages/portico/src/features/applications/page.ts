import { page, type Words } from '../../pages/words.ts';
import type { Visitor } from '../../host/accounts.ts';
import type { ApplicationsView } from '../../endpoints/replies/applications-view.ts';
import { byApplication, shownApplication } from './entries.ts';
import { shownPerson } from '../../authorization/page-data.ts';
import { formToken, isFormToken } from '../../host/form-token.ts';
import { AuthorizationPageError } from '../../errors.ts';
import { revokeEachLiving } from '../../grants/living-access.ts';
import type { Server } from '../../server.ts';
import type { Authorization } from '../../store/grant.ts';
import { pageReply, redirectReply } from '../../endpoints/replies/pages.ts';
import { formParameters, queryParameters } from '../../parameters.ts';
import type { Reply } from '../../endpoints/replies/responses.ts';
import { scopesHeldBy } from '../../tokens/scopes.ts';
import type { PersonReference } from '../../person.ts';

/** The page where a user sees which applications have access, and can revoke that access. */
export class ApplicationsPage {
  readonly #server: Server;
  /** The path of the page, as browsers request it. */
  readonly #path: string;
  readonly #logoPath: string | null;

  /** `logoPath` is null if the server serves no client logos. */
  constructor(server: Server, path: string, logoPath: string | null) {
    this.#server = server;
    this.#path = path;
    this.#logoPath = logoPath;
  }

  /** Handles GET. */
  async list(request: Request): Promise<Reply> {
    const { accounts, speaking, config, paths, issuer } = this.#server;
    const path = this.#path;
    const visitor = await accounts.visitor(request);
    if (visitor === null) return redirectReply(this.#signInUrl(request), 302);
    const words = await speaking.of(request);
    const asked = queryParameters(request);
    const applications = await this.#applicationsOf(visitor, words);
    const data: ApplicationsView = {
      serverName: config.name,
      person: shownPerson(visitor.user),
      applications,
      removed: asked.has('removed'),
      removedAll: asked.get('removed') === ALL,
      action: speaking.withWish(request, path),
      removeAllPath: speaking.withWish(request, `${path}?remove=${ALL}`),
      confirming: asked.get('remove') === ALL && applications.length > 0,
      csrfToken: formToken(visitor, ...getForm(null, visitor)),
      home: paths.home,
    };
    return pageReply(this.#server, {
      words,
      view: 'oauth/applications',
      status: 200,
      formLeadsTo: issuer,
      data: { ...data },
    });
  }

  /** Handles POST. Revokes the user's authorizations for one or all applications. */
  async remove(request: Request): Promise<Reply> {
    const { accounts, speaking } = this.#server;
    const form = await formParameters(request);
    const visitor = await accounts.visitor(request);
    if (visitor === null) return redirectReply(this.#signInUrl(request), 303);
    const clientId = form.get('client_id');
    const isAll = clientId === undefined && form.get('remove') === ALL;
    const ended = isAll ? null : (clientId ?? '');
    if (!isFormToken(form.get('csrf_token'), visitor, ...getForm(ended, visitor)))
      throw notAccepted();
    await this.#end(visitor.user.reference, ended);
    const removed = `${this.#path}?removed=${isAll ? ALL : '1'}`;
    return redirectReply(speaking.withWish(request, removed), 303);
  }

  /** Each application contains the scopes that it can use now. */
  async #applicationsOf(visitor: Visitor, words: Words): Promise<ApplicationsView['applications']> {
    const { store, host, config, scopes: catalog, scopeHeadings: headings, clock } = this.#server;
    const shown = { serverName: config.name, logoPath: this.#logoPath };
    const person = visitor.user.reference;
    const authorizations = await store.authorizations.listAuthorizations(person, clock());
    return Promise.all(
      byApplication(authorizations, shown, words).map(async (application) => {
        const held = await scopesHeldBy(host, catalog, application.scopes, person);
        const csrfToken = formToken(visitor, ...getForm(application.clientId, visitor));
        return shownApplication(application, held, csrfToken, { catalog, headings }, words);
      }),
    );
  }

  /**
   * Revokes the user's active authorizations for one client, or for all if `only` is null. If there
   * are none, an earlier attempt may have revoked them and then failed. In that case, makes sure
   * that the revocation is durable.
   */
  async #end(person: PersonReference, only: string | null): Promise<void> {
    const { store } = this.#server;
    await this.#server.givenAccess()?.end(person, only);
    const isMeant = ({ family }: Authorization) => only === null || family.clientId === only;
    if ((await revokeEachLiving(this.#server, person, isMeant, { reason: 'person' })) > 0) return;
    await (only === null
      ? store.authorizations.confirmRevokedOfPerson(person)
      : store.authorizations.confirmRevoked(person, only));
  }

  /** After sign-in, the browser comes back to this page in the requested language. */
  #signInUrl(request: Request): string {
    const { speaking, host } = this.#server;
    return speaking.withWish(request, host.loginUrl(speaking.withWish(request, this.#path)));
  }
}

/** In the parameters `remove` and `removed`, this value means all applications. */
const ALL = 'all';

function notAccepted(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.removal_not_accepted'),
    'the csrf_token is not valid for this application and browser session',
  );
}

/**
 * Returns the values that the CSRF token of a form is bound to. `clientId` is null for the form
 * that removes all applications.
 */
function getForm(clientId: string | null, { user }: Visitor): readonly string[] {
  const { provider, id } = user.reference;
  return clientId === null
    ? ['oauth/applications/all', provider, id]
    : ['oauth/applications', clientId, provider, id];
}
