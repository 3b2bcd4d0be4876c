import type { ResponseMode } from '../../authorization/response-modes.ts';
import type { PageText, Text } from '../../pages/words.ts';
import type { Reply } from './responses.ts';

/** A response mode that can send responses. */
export interface SendingMode extends ResponseMode {
  /** Returns the reply that sends the browser to the redirect URI with the parameters. */
  send(response: SentResponse): Reply | Promise<Reply>;
}

/** A response that is about to be sent to the client. */
export interface SentResponse {
  /** The request, which determines a page's language. */
  readonly request: Request;
  readonly redirectUri: string;
  /** The response parameters, for example `code`, `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The HTTP status for a mode that redirects. */
  readonly status: 302 | 303;
  /** The question that the user must answer before the browser continues, or null. */
  readonly question: SendingQuestion | null;
}

/** Asks the user whether to continue (RFC 9700 section 4.11.2). */
export interface SendingQuestion {
  readonly text: PageText;
  /** The HTTP status of the page. */
  readonly status: number;
  /** The text of the button or link to continue. */
  readonly action: Text;
}
