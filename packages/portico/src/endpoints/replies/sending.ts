import type { ResponseMode } from '../../authorization/response-modes.ts';
import type { PageText, Text } from '../../pages/words.ts';
import type { Reply } from './responses.ts';

export interface SendingMode extends ResponseMode {
  /** Sends the browser to the redirect URI with the response parameters. */
  send(response: SentResponse): Reply | Promise<Reply>;
}

export interface SentResponse {
  /** Determines the language of pages. */
  readonly request: Request;
  readonly redirectUri: string;
  /** For example `code`, `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** For a mode that redirects. */
  readonly status: 302 | 303;
  /** The user must answer this question first. Null if there is no question. */
  readonly question: SendingQuestion | null;
}

/** Asks the user whether to continue to the client (RFC 9700 section 4.11.2). */
export interface SendingQuestion {
  readonly text: PageText;
  readonly status: number;
  /** The text of the button or link that continues. */
  readonly action: Text;
}
