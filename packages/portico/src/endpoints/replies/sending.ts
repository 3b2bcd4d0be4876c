import type { ResponseMode } from '../../authorization/response-modes.ts';
import type { PageText, Text } from '../../pages/words.ts';
import type { Reply } from './responses.ts';

/** A response mode that can send authorization responses. */
export interface SendingMode extends ResponseMode {
  /** Returns the reply that sends the browser to the redirect URI with the response parameters. */
  send(response: SentResponse): Reply | Promise<Reply>;
}

/** An authorization response that is about to be sent to the client. */
export interface SentResponse {
  /** The request, which determines the language of pages. */
  readonly request: Request;
  readonly redirectUri: string;
  /** The parameters of the response, for example `code`, `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The HTTP status to use if the mode redirects. */
  readonly status: 302 | 303;
  /**
   * The question that the user must answer before the browser continues. Null if there is no
   * question.
   */
  readonly question: SendingQuestion | null;
}

/** A question that asks the user whether to continue to the client (RFC 9700 section 4.11.2). */
export interface SendingQuestion {
  readonly text: PageText;
  /** The HTTP status of the page with the question. */
  readonly status: number;
  /** The text of the button or link that continues. */
  readonly action: Text;
}
