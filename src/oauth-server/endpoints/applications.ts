import { equalInConstantTime } from '../../http/constant-time.ts';
import type { Speaking } from '../../words/speaking.ts';
import { page, type Words } from '../../words/words.ts';
import type { Accounts, Visitor } from '../accounts.ts';
import type { Audit } from '../auditing/audit.ts';
import { shownPerson, shownScopes } from '../authorization/consent-page.ts';
import { calledName, comesFrom, isVerified } from '../clients/who-asks.ts';
import { keyedHash } from '../crypto.ts';
import { AuthorizationPageError } from '../errors.ts';
import type { CompleteHost } from '../host.ts';
import { pageReply, redirectReply } from '../replies/pages.ts';
import { formParameters, queryParameters } from '../parameters.ts';
import type { Reply } from '../replies/responses.ts';
import { intersectScopes, scopesHeldBy, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Authorization } from '../store/grant.ts';
import type { Store } from '../store/store.ts';
import type { BrowserPaths } from './paths.ts';

export interface ApplicationsEndpointsOptions {
  readonly store: Pick<Store, 'listAuthorizations' | 'revokeFamily' | 'confirmRevoked'>;
  readonly accounts: Pick<Accounts, 'visitor'>;
  readonly host: Pick<CompleteHost, 'holdsPermission' | 'loginUrl' | 'render'>;
  readonly scopes: ScopeCatalog;
  readonly audit: Audit;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly issuer: string;
  readonly paths: Pick<BrowserPaths, 'applications' | 'home'>;
  readonly serverName: string;
  readonly speaking: Speaking;
}

export interface ApplicationsEndpoints {
  /** GET /oauth/applications: which applications have access for the signed-in person, since when and to what. */
  readonly list: (request: Request) => Promise<Reply>;
  /** POST /oauth/applications: ends all that the person allowed one application, from this moment. */
  readonly remove: (request: Request) => Promise<Reply>;
}

/** An application that may act for the person, with all that it was allowed. */
interface AllowedApplication {
  readonly clientId: string;
  /** As registered; for a client that no operator registered where it comes from, and that nobody has verified it. */
  readonly name: string;
  /** Null for a client that an operator registered. */
  readonly unverified: UnverifiedApplication | null;
  /** The first time, milliseconds since 1970. */
  readonly since: number;
  readonly scopes: readonly string[];
}

interface UnverifiedApplication {
  /** A host in ASCII, "a program on this computer" or "an application on this device", or several. */
  readonly from: string;
  /** What it calls itself; null when that must not be shown. */
  readonly calledName: string | null;
}

export function createApplicationsEndpoints(options: ApplicationsEndpointsOptions): ApplicationsEndpoints {
  const { store, accounts, host, scopes: catalog, audit, clock, issuer, paths, serverName } = options;
  const { speaking } = options;

  async function shownApplication(
    { clientId, name, unverified, since, scopes }: AllowedApplication,
    visitor: Visitor,
    words: Words,
  ) {
    const held = await scopesHeldBy(host, catalog, scopes, visitor.user.reference);
    return {
      clientId,
      name,
      unverified,
      since: { iso: new Date(since).toISOString(), text: shownDate(since, words) },
      scopes: shownScopes(held, catalog, words),
      csrfToken: csrfTokenFor(clientId, visitor),
    };
  }

  /** With the wish for a language for the way there and back. */
  const signInUrl = (request: Request) =>
    speaking.withWish(request, host.loginUrl(speaking.withWish(request, paths.applications)));

  return {
    async list(request) {
      const visitor = await accounts.visitor(request);
      if (visitor === null) return redirectReply(signInUrl(request), 302);
      const words = await speaking.of(request);
      const authorizations = await store.listAuthorizations(visitor.user.reference, clock());
      const applications = await Promise.all(
        byApplication(authorizations, serverName, words).map((application) =>
          shownApplication(application, visitor, words),
        ),
      );
      return pageReply({
        host,
        speaking,
        words,
        view: 'oauth/applications',
        status: 200,
        formLeadsTo: issuer,
        data: {
          serverName,
          person: shownPerson(visitor.user),
          applications,
          removed: queryParameters(request).has('removed'),
          action: speaking.withWish(request, paths.applications),
          home: paths.home,
        },
      });
    },
    async remove(request) {
      const form = await formParameters(request);
      const visitor = await accounts.visitor(request);
      if (visitor === null) return redirectReply(signInUrl(request), 303);
      const clientId = form.get('client_id') ?? '';
      if (!equalInConstantTime(form.get('csrf_token') ?? '', csrfTokenFor(clientId, visitor))) {
        throw notAccepted();
      }
      const person = visitor.user.reference;
      const authorizations = await store.listAuthorizations(person, clock());
      const living = authorizations.filter(({ family }) => family.clientId === clientId);
      // What is said to be gone is gone for good, also if it was an earlier attempt that ended it.
      if (living.length === 0) await store.confirmRevoked(person, clientId);
      for (const { family } of living) {
        if (!(await store.revokeFamily(family.id, clock()))) continue;
        const about = { authorization: family.id, clientId, person };
        await audit({ type: 'family_revoked', ...about, reason: 'person' });
      }
      return redirectReply(speaking.withWish(request, `${paths.applications}?removed=1`), 303);
    },
  };
}

function notAccepted(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.removal_not_accepted'),
    'the csrf_token is not the one of this application and browser session',
  );
}

function shownDate(time: number, { locale }: Pick<Words, 'locale'>): string {
  return new Date(time).toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' });
}

/** Of one application and person, keyed by the browser session. */
function csrfTokenFor(clientId: string, { user, browserSecret }: Visitor): string {
  const { provider, id } = user.reference;
  return keyedHash(browserSecret, 'oauth/applications', clientId, provider, id);
}

/** Several authorizations of one application are one entry, with the scopes of all. */
function byApplication(
  authorizations: readonly Authorization[],
  serverName: string,
  words: Words,
): readonly AllowedApplication[] {
  const applications = new Map<string, AllowedApplication>();
  for (const authorization of authorizations) {
    const { family, clientScopes, createdAt } = authorization;
    const { clientId } = family;
    const before = applications.get(clientId);
    const scopes = [...(before?.scopes ?? []), ...intersectScopes(family.scopes, clientScopes)];
    applications.set(clientId, {
      clientId,
      ...namesOf(authorization, serverName, words),
      since: before?.since ?? createdAt,
      scopes: [...new Set(scopes)],
    });
  }
  return [...applications.values()];
}

/** A view that knows nothing of clients that no operator registered must not take their own word for who they are. */
function namesOf(authorization: Authorization, serverName: string, words: Words) {
  const { family, clientName: name } = authorization;
  const { clientRegisteredBy: registeredBy, clientRedirectUris: redirectUris } = authorization;
  if (isVerified({ registeredBy })) return { name, unverified: null };
  const from = comesFrom({ id: family.clientId, registeredBy, redirectUris }, words);
  return {
    name: words.t('client.not_verified', { client: from }),
    unverified: { from, calledName: calledName({ name }, serverName) },
  };
}
