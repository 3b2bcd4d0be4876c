import { requestIdOf } from '../http/request-id.ts';
import type { Speaking } from '../words/speaking.ts';
import { page, told, type PageText, type Text, type Words } from '../words/words.ts';
import { consentPageData, type ConsentPageSurroundings } from '../authorization/consent-page.ts';
import type { Presented } from '../authorization/consent.ts';
import { responseUrl, type AuthorizationResponse } from '../authorization/response.ts';
import { destinationOf, isVerified } from '../clients/who-asks.ts';
import type { CompleteHost } from '../host.ts';
import type { Profiles } from '../profiles.ts';
import { ANYWHERE, pageReply, redirectReply } from '../replies/pages.ts';
import type { Reply } from '../replies/responses.ts';
import type { Client } from '../store/client.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import type { BrowserPaths } from '../paths.ts';

export interface AuthorizeRepliesOptions {
  readonly host: Pick<CompleteHost, 'render' | 'log'>;
  readonly issuer: string;
  readonly paths: Pick<BrowserPaths, 'authorize'>;
  /** Where people revoke what they allowed. */
  readonly accessPath: string;
  /** The path of the logos of clients; null without logos. */
  readonly logoPath: string | null;
  /** In seconds. */
  readonly lifetimes: ConsentPageSurroundings['lifetimes'];
  readonly serverName: string;
  readonly speaking: Speaking;
  readonly scopes: ScopeCatalog;
  readonly scopeHeadings: ConsentPageSurroundings['headings'];
  readonly profiles: Profiles;
}

interface PageWithLink {
  readonly text: PageText;
  readonly status: number;
  readonly link: { readonly href: string; readonly text: Text };
}

/**
 * The answers of the authorization endpoint: the consent page, redirects, and pages with one link.
 */
export class AuthorizeReplies {
  readonly #options: AuthorizeRepliesOptions;

  constructor(options: AuthorizeRepliesOptions) {
    this.#options = options;
  }

  /** The texts of the pages, in the language of the request. */
  words(request: Request): Promise<Words> {
    return this.#options.speaking.of(request);
  }

  /** Of redirects that answer GET; a profile may ask for 303. */
  redirectStatus(client: Client | null): 302 | 303 {
    const { profiles } = this.#options;
    return (client === null ? profiles.servers : profiles.of(client))?.redirectStatus ?? 302;
  }

  /** The consent page, or the response without a question. */
  async presented(request: Request, presented: Presented): Promise<Reply> {
    if ('response' in presented) return this.response(request, presented.response);
    const {
      host,
      speaking,
      serverName,
      scopes: catalog,
      scopeHeadings: headings,
      paths,
      logoPath,
      accessPath,
      lifetimes,
    } = this.#options;
    const words = await speaking.of(request);
    const server = {
      serverName,
      catalog,
      headings,
      action: paths.authorize,
      applicationsPath: speaking.withWish(request, accessPath),
      logoPath,
      lifetimes,
    };
    return pageReply({
      host,
      speaking,
      words,
      view: 'oauth/consent',
      status: 200,
      data: { ...consentPageData(presented.question, server, words) },
      formLeadsTo: ANYWHERE,
    });
  }

  /**
   * Redirects to the client. For an unverified client, an error is a page with a link instead: the
   * person decides whether to go to that site (RFC 9700 section 4.11.2).
   */
  async response(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303 = this.redirectStatus(response.client),
  ): Promise<Reply> {
    const { result, client, redirectUri } = response;
    const leadsAnywhere = !isVerified(client) && destinationOf(redirectUri).kind === 'site';
    return 'error' in result && leadsAnywhere
      ? { ...(await this.#wayBack(request, response)), refused: result.error }
      : this.redirect(response, status);
  }

  redirect(response: AuthorizationResponse, status: 302 | 303): Reply {
    const { result } = response;
    const reply = redirectReply(responseUrl(response, this.#options.issuer), status);
    return 'error' in result ? { ...reply, refused: result.error } : reply;
  }

  /** For a host without `signOut`: the person signs out, and returns through the link. */
  signOutFirst(request: Request, returnTo: string): Promise<Reply> {
    return this.#pageWithLink(request, {
      text: page('error.sign_out_first', { server: this.#options.serverName }),
      status: 200,
      link: { href: returnTo, text: { key: 'error.sign_out_first.link' } },
    });
  }

  #wayBack(request: Request, response: AuthorizationResponse): Promise<Reply> {
    const site = destinationOf(response.redirectUri).text;
    const { serverName, issuer } = this.#options;
    return this.#pageWithLink(request, {
      text: page('error.nothing_shared', { host: site, server: serverName }),
      status: 400,
      link: {
        href: responseUrl(response, issuer),
        text: { key: 'error.nothing_shared.link', values: { host: site } },
      },
    });
  }

  async #pageWithLink(request: Request, { text, status, link }: PageWithLink): Promise<Reply> {
    const { host, speaking, serverName } = this.#options;
    const words = await speaking.of(request);
    const data = {
      serverName,
      title: told(words, text.title),
      message: told(words, text.message),
      status,
      link: { href: link.href, text: told(words, link.text) },
      requestId: requestIdOf(request),
      detail: null,
    };
    return pageReply({ host, speaking, words, view: 'oauth/error', status, data, formLeadsTo: null });
  }
}
