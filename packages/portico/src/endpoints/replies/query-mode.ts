import { QUERY } from '../../authorization/response-modes.ts';
import { redirectWith } from '../../clients/redirect-uris.ts';
import { redirectReply } from './pages.ts';
import type { Reply } from './responses.ts';
import type { SendingMode, SendingQuestion, SentResponse } from './sending.ts';

/** Returns a page with a question and a link to this URL. */
type AskFirst = (request: Request, question: SendingQuestion, href: string) => Promise<Reply>;

/** Sends the response in the query of the redirect URI (RFC 6749 section 4.1.2). */
export class QueryMode implements SendingMode {
  readonly name = QUERY;
  readonly #askFirst: AskFirst;

  constructor(askFirst: AskFirst) {
    this.#askFirst = askFirst;
  }

  send({
    request,
    redirectUri,
    parameters,
    status,
    question,
  }: SentResponse): Reply | Promise<Reply> {
    const href = redirectWith(redirectUri, parameters);
    return question === null
      ? redirectReply(href, status)
      : this.#askFirst(request, question, href);
  }
}
