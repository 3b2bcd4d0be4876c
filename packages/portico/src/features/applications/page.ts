import type { Speaking } from '../../words/speaking.ts';
import { page, type Words } from '../../words/words.ts';
import type { Accounts, Visitor } from '../../accounts.ts';
import type { Audit } from '../../auditing/audit.ts';
import type { ApplicationsView } from '../../replies/applications-view.ts';
import { byApplication, shownApplication } from './entries.ts';
import { shownPerson } from '../../authorization/page-data.ts';
import { formToken, isFormToken } from '../../form-token.ts';
import { AuthorizationPageError } from '../../errors.ts';
import type { CompleteHost } from '../../host.ts';
import { pageReply, redirectReply } from '../../replies/pages.ts';
import { formParameters, queryParameters } from '../../parameters.ts';
import type { Reply } from '../../replies/responses.ts';
import { scopesHeldBy, type ScopeCatalog, type ScopeHeading } from '../../tokens/scopes.ts';
import type { PersonReference } from '../../contracts/person.ts';
import type { AuthorizationRecords } from '../../store/sql/authorizations.ts';

export interface ApplicationsPageOptions {
  readonly store: AuthorizationRecords;
  readonly accounts: Pick<Accounts, 'visitor'>;
  readonly host: Pick<CompleteHost, 'holdsPermission' | 'loginUrl' | 'render'>;
  readonly scopes: ScopeCatalog;
  /** The headings of lists of scopes, in their order. */
  readonly scopeHeadings: readonly ScopeHeading[];
  readonly audit: Audit;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly issuer: string;
  /** The path of the page, as a browser requests it. */
  readonly path: string;
  /** The application's own first page. */
  readonly home: string;
  readonly serverName: string;
  readonly speaking: Speaking;
  /** The path of client logos; null if there are none. */
  readonly logoPath: string | null;
}

/** The page where a person sees which applications have access, and revokes it. */
export class ApplicationsPage {
  readonly #options: ApplicationsPageOptions;

  constructor(options: ApplicationsPageOptions) {
    this.#options = options;
  }

  /** GET: which applications have access for the signed-in person, since when and to what. */
  async list(request: Request): Promise<Reply> {
    const { host, accounts, speaking, serverName, path, home, issuer } = this.#options;
    const visitor = await accounts.visitor(request);
    if (visitor === null) return redirectReply(this.#signInUrl(request), 302);
    const words = await speaking.of(request);
    const asked = queryParameters(request);
    const applications = await this.#applicationsOf(visitor, words);
    const data: ApplicationsView = {
      serverName,
      person: shownPerson(visitor.user),
      applications,
      removed: asked.has('removed'),
      removedAll: asked.get('removed') === ALL,
      action: speaking.withWish(request, path),
      removeAllPath: speaking.withWish(request, `${path}?remove=${ALL}`),
      confirming: asked.get('remove') === ALL && applications.length > 0,
      csrfToken: formToken(visitor, ...formOf(null, visitor)),
      home,
    };
    return pageReply({
      host,
      speaking,
      words,
      view: 'oauth/applications',
      status: 200,
      formLeadsTo: issuer,
      data: { ...data },
    });
  }

  /** POST: ends everything that the person allowed one application, or all of them, at once. */
  async remove(request: Request): Promise<Reply> {
    const { accounts, speaking, path } = this.#options;
    const form = await formParameters(request);
    const visitor = await accounts.visitor(request);
    if (visitor === null) return redirectReply(this.#signInUrl(request), 303);
    const clientId = form.get('client_id');
    const isAll = clientId === undefined && form.get('remove') === ALL;
    const ended = isAll ? null : (clientId ?? '');
    if (!isFormToken(form.get('csrf_token'), visitor, ...formOf(ended, visitor))) throw notAccepted();
    await this.#end(visitor.user.reference, ended);
    const removed = `${path}?removed=${isAll ? ALL : '1'}`;
    return redirectReply(speaking.withWish(request, removed), 303);
  }

  /** The applications of the page, each with its current rights. */
  async #applicationsOf(visitor: Visitor, words: Words): Promise<ApplicationsView['applications']> {
    const { store, host, scopes: catalog, scopeHeadings: headings, clock } = this.#options;
    const { serverName, logoPath } = this.#options;
    const person = visitor.user.reference;
    const authorizations = await store.listAuthorizations(person, clock());
    return Promise.all(
      byApplication(authorizations, { serverName, logoPath }, words).map(async (application) => {
        const held = await scopesHeldBy(host, catalog, application.scopes, person);
        const csrfToken = formToken(visitor, ...formOf(application.clientId, visitor));
        return shownApplication(application, held, csrfToken, { catalog, headings }, words);
      }),
    );
  }

  /**
   * Ends the living authorizations of one client, or of all (null). Everything that the page then
   * reports as removed is gone for good, even if an earlier attempt ended it.
   */
  async #end(person: PersonReference, only: string | null): Promise<void> {
    const { store, audit, clock } = this.#options;
    const authorizations = await store.listAuthorizations(person, clock());
    const living = authorizations.filter(({ family }) => only === null || family.clientId === only);
    if (living.length === 0) {
      await (only === null ? store.confirmRevokedOfPerson(person) : store.confirmRevoked(person, only));
    }
    for (const { family } of living) {
      if (!(await store.revokeFamily(family.id, clock()))) continue;
      const about = { authorization: family.id, clientId: family.clientId, person };
      await audit({ type: 'family_revoked', ...about, reason: 'person' });
    }
  }

  /** The sign-in page, which leads back here in the requested language. */
  #signInUrl(request: Request): string {
    const { speaking, host, path } = this.#options;
    return speaking.withWish(request, host.loginUrl(speaking.withWish(request, path)));
  }
}

/** The value of `remove` and `removed` for all applications. */
const ALL = 'all';

function notAccepted(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.removal_not_accepted'),
    'the csrf_token is not the one of this application and browser session',
  );
}

/** Names the form that ends what a person allowed this application, or all of them (null). */
function formOf(clientId: string | null, { user }: Visitor): readonly string[] {
  const { provider, id } = user.reference;
  return clientId === null
    ? ['oauth/applications/all', provider, id]
    : ['oauth/applications', clientId, provider, id];
}
