import { requestIdOf } from '../http/request-id.ts';
import type { Speaking } from '../words/speaking.ts';
import { page, told, type PageText, type Text, type Words } from '../words/words.ts';
import { consentPageData, type ConsentPageSurroundings } from '../authorization/consent-page.ts';
import type { Presented } from '../authorization/consent.ts';
import type { ResponseModes } from '../authorization/response-modes.ts';
import { responseParameters, type AuthorizationResponse } from '../authorization/response.ts';
import { destinationOf, isVerified } from '../clients/who-asks.ts';
import type { CompleteHost } from '../host.ts';
import type { Profiles } from '../profiles.ts';
import { ANYWHERE, pageReply } from '../replies/pages.ts';
import { QueryMode } from '../replies/query-mode.ts';
import type { Reply } from '../replies/responses.ts';
import type { SendingMode, SendingQuestion } from '../replies/sending.ts';
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
  readonly responseModes: Pick<ResponseModes<SendingMode>, 'of'>;
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
  readonly #query = new QueryMode((request, { text, status, action }, href) =>
    this.#pageWithLink(request, { text, status, link: { href, text: action } }),
  );

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
   * Sends the response to the client. For an unverified client, an error is a page with a link or a
   * button: the person decides whether to go to that site (RFC 9700 section 4.11.2).
   */
  async response(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303 = this.redirectStatus(response.client),
  ): Promise<Reply> {
    const { result, client, redirectUri } = response;
    const leadsAnywhere = !isVerified(client) && destinationOf(redirectUri).kind === 'site';
    const asks = 'error' in result && leadsAnywhere;
    return this.send(request, response, status, asks ? this.#wayBack(redirectUri) : null);
  }

  /** Sends the response to the client in its mode; with a question, if the person goes on. */
  async send(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303,
    question: SendingQuestion | null = null,
  ): Promise<Reply> {
    const { responseModes, issuer } = this.#options;
    const { redirectUri, result } = response;
    const parameters = responseParameters(response, issuer);
    const mode = responseModes.of(response) ?? this.#query;
    const reply = await mode.send({ request, redirectUri, parameters, status, question });
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

  #wayBack(redirectUri: string): SendingQuestion {
    const site = destinationOf(redirectUri).text;
    return {
      text: page('error.nothing_shared', { host: site, server: this.#options.serverName }),
      status: 400,
      action: { key: 'error.nothing_shared.link', values: { host: site } },
    };
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
