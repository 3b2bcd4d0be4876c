import type { ResponseMode } from '../authorization/response-modes.ts';
import type { PageText, Text } from '../words/words.ts';
import type { Reply } from './responses.ts';

/** A response mode that can send responses. */
export interface SendingMode extends ResponseMode {
  /** The answer that sends the browser to the redirect URI with the parameters. */
  send(response: SentResponse): Reply | Promise<Reply>;
}

/** A response on its way to the client. */
export interface SentResponse {
  /** Chooses the language of a page. */
  readonly request: Request;
  readonly redirectUri: string;
  /** Such as `code`, `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** If a redirect sends it. */
  readonly status: 302 | 303;
  /** What the person is asked before the browser goes on; null if it goes on by itself. */
  readonly question: SendingQuestion | null;
}

/** The person decides whether to go on (RFC 9700 section 4.11.2). */
export interface SendingQuestion {
  readonly text: PageText;
  /** The status of the page. */
  readonly status: number;
  /** What goes on. */
  readonly action: Text;
}
