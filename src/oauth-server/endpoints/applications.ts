import { equalInConstantTime } from '../../http/constant-time.ts';
import type { Visitor } from '../accounts.ts';
import { AuthorizationPageError } from '../errors.ts';
import { pageReply, redirectReply } from '../pages.ts';
import { formParameters, queryParameters } from '../parameters.ts';
import type { Reply } from '../responses.ts';
import { intersectScopes, scopesHeldBy } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';
import type { Authorization } from '../store/store.ts';
import { keyedHash } from '../crypto.ts';
import { APPLICATIONS_PATH } from './paths.ts';

/** An application that may act for the person, with all that it was allowed. */
interface HoldingApplication {
  readonly clientId: string;
  readonly name: string;
  /** The first time, milliseconds since 1970. */
  readonly since: number;
  readonly scopes: readonly string[];
}

/** GET /oauth/applications: which applications hold access for the signed-in person, since when and for what. */
export async function applicationsEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const visitor = await context.accounts.visitor(request);
  if (visitor === null) return redirectReply(context.host.loginUrl(APPLICATIONS_PATH), 302);
  const person = visitor.user.reference;
  const authorizations = await context.store.listAuthorizations(person, context.clock());
  const applications = await Promise.all(
    byApplication(authorizations).map(async ({ clientId, name, since, scopes }) => {
      const held = await scopesHeldBy(context.host, context.scopes, scopes, person);
      return {
        clientId,
        name,
        since: { iso: new Date(since).toISOString(), text: dateOf(since) },
        scopes: held.map((scope) => ({ name: scope, label: context.scopes.get(scope)?.label ?? scope })),
        csrfToken: csrfTokenFor(clientId, visitor),
      };
    }),
  );
  const profile = visitor.user.getProfile();
  return pageReply({
    host: context.host,
    view: 'oauth/applications',
    status: 200,
    formLeadsTo: context.issuer,
    data: {
      serverName: context.config.name,
      person: { name: profile.name ?? null, email: profile.email ?? null },
      applications,
      removed: queryParameters(request).has('removed'),
      action: APPLICATIONS_PATH,
    },
  });
}

/** POST /oauth/applications: takes back all that the person allowed one application, from this moment. */
export async function removeApplicationEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const form = await formParameters(request);
  const visitor = await context.accounts.visitor(request);
  if (visitor === null) return redirectReply(context.host.loginUrl(APPLICATIONS_PATH), 303);
  const clientId = form.get('client_id') ?? '';
  if (!equalInConstantTime(form.get('csrf_token') ?? '', csrfTokenFor(clientId, visitor))) {
    throw new AuthorizationPageError(
      'This was not accepted',
      NOT_FROM_HERE,
      'the csrf_token is not the one of this application and browser session',
    );
  }
  const person = visitor.user.reference;
  const authorizations = await context.store.listAuthorizations(person, context.clock());
  for (const { family } of authorizations) {
    if (family.clientId !== clientId) continue;
    if (!(await context.store.revokeFamily(family.id, context.clock()))) continue;
    const about = { authorization: family.id, clientId, person };
    await context.audit({ type: 'family_revoked', ...about, reason: 'person' });
  }
  return redirectReply(`${APPLICATIONS_PATH}?removed=1`, 303);
}

const NOT_FROM_HERE =
  'It did not come from your page of applications, or somebody else has signed in since. Nothing was changed. ' +
  'Open the page again.';

function dateOf(time: number): string {
  return new Date(time).toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' });
}

/** For one application and person, keyed by the browser session. */
function csrfTokenFor(clientId: string, { user, browserSecret }: Visitor): string {
  const { provider, id } = user.reference;
  return keyedHash(browserSecret, 'oauth/applications', clientId, provider, id);
}

/** Several authorizations of one application are one line: together they say what it may do. */
function byApplication(authorizations: readonly Authorization[]): readonly HoldingApplication[] {
  const applications = new Map<string, HoldingApplication>();
  for (const { family, clientName: name, clientScopes, createdAt } of authorizations) {
    const { clientId } = family;
    const before = applications.get(clientId);
    const scopes = [...(before?.scopes ?? []), ...intersectScopes(family.scopes, clientScopes)];
    applications.set(clientId, {
      clientId,
      name,
      since: before?.since ?? createdAt,
      scopes: [...new Set(scopes)],
    });
  }
  return [...applications.values()];
}
