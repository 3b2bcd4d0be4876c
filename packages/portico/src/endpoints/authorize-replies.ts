import { getRequestId } from '../http/request-id.ts';
import { page, type Words } from '../pages/words.ts';
import type { AuthorizationAdditions } from '../authorization/additions.ts';
import { consentPageData } from '../authorization/consent-page.ts';
import type { Presented } from '../authorization/consent.ts';
import type { ResponseModes } from '../authorization/response-modes.ts';
import { responseParameters, type AuthorizationResponse } from '../authorization/response.ts';
import { getDestination, isVerified } from '../clients/who-asks.ts';
import { messageReply } from './replies/message-page.ts';
import { ANYWHERE, pageReply } from './replies/pages.ts';
import { QueryMode } from './replies/query-mode.ts';
import type { Reply } from './replies/responses.ts';
import type { SendingMode, SendingQuestion } from './replies/sending.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';

export interface SendingAdditions extends AuthorizationAdditions {
  readonly responseModes: ResponseModes<SendingMode>;
}

/** Builds the consent page, redirects, and pages with one link. */
export class AuthorizeReplies {
  readonly #server: Server;
  readonly #additions: SendingAdditions;
  readonly #query = new QueryMode((request, { text, status, action }, href) =>
    messageReply(this.#server, request, {
      text,
      status,
      link: { href, text: action },
      requestId: getRequestId(request),
    }),
  );

  constructor(server: Server, additions: SendingAdditions) {
    this.#server = server;
    this.#additions = additions;
  }

  words(request: Request): Promise<Words> {
    return this.#server.speaking.of(request);
  }

  /** A security profile can require 303 after a GET request. */
  redirectStatus(client: Client | null): 302 | 303 {
    const { profiles } = this.#server;
    return (client === null ? profiles.servers : profiles.of(client))?.redirectStatus ?? 302;
  }

  /** Returns the consent page. If there is nothing to ask, sends the response to the client. */
  async presented(request: Request, presented: Presented): Promise<Reply> {
    if ('response' in presented) return this.response(request, presented.response);
    const { config, speaking, paths, scopes, scopeHeadings } = this.#server;
    const { logos, accessPath } = this.#additions;
    const words = await speaking.of(request);
    const surroundings = {
      serverName: config.name,
      catalog: scopes,
      headings: scopeHeadings,
      action: paths.authorize,
      applicationsPath: speaking.withWish(request, accessPath ?? paths.home),
      logoPath: logos?.path ?? null,
      lifetimes: config,
    };
    return pageReply(this.#server, {
      words,
      view: 'oauth/consent',
      status: 200,
      data: { ...consentPageData(presented.question, surroundings, words) },
      formLeadsTo: ANYWHERE,
    });
  }

  /**
   * Sends the response to the client. An error for the website of an unverified client first
   * becomes a page with a link or button. The user decides whether to go there (RFC 9700 section
   * 4.11.2).
   */
  async response(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303 = this.redirectStatus(response.client),
  ): Promise<Reply> {
    const { result, client, redirectUri } = response;
    const leadsAnywhere = !isVerified(client) && getDestination(redirectUri).kind === 'site';
    const asks = 'error' in result && leadsAnywhere;
    return this.send(request, response, status, asks ? this.#wayBack(redirectUri) : null);
  }

  /** Uses the response mode of the request. If `question` is not null, first asks the user. */
  async send(
    request: Request,
    response: AuthorizationResponse,
    status: 302 | 303,
    question: SendingQuestion | null = null,
  ): Promise<Reply> {
    const { redirectUri, result } = response;
    const parameters = responseParameters(response, this.#server.issuer);
    const mode = this.#additions.responseModes.of(response) ?? this.#query;
    const reply = await mode.send({ request, redirectUri, parameters, status, question });
    return 'error' in result ? { ...reply, refused: result.error } : reply;
  }

  /** Asks the user to sign out and to follow a link back. Used if the host has no `signOut`. */
  signOutFirst(request: Request, returnTo: string): Promise<Reply> {
    return messageReply(this.#server, request, {
      text: page('error.sign_out_first', { server: this.#server.config.name }),
      status: 200,
      link: { href: returnTo, text: { key: 'error.sign_out_first.link' } },
      requestId: getRequestId(request),
    });
  }

  #wayBack(redirectUri: string): SendingQuestion {
    const site = getDestination(redirectUri).text;
    return {
      text: page('error.nothing_shared', { host: site, server: this.#server.config.name }),
      status: 400,
      action: { key: 'error.nothing_shared.link', values: { host: site } },
    };
  }
}
