import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { ReturnAddress } from './response-modes.ts';

/** An authorization request to check. Its client and redirect URI are already verified. */
export interface RequestToCheck {
  readonly parameters: Parameters;
  readonly client: Client;
  readonly returns: ReturnAddress;
  /**
   * True if the client sent the request directly to the server. The browser then sends only a
   * reference.
   */
  readonly direct: boolean;
}

/** What the checks found in a request. */
export interface Findings {
  readonly codeChallenge: string;
  readonly thumbprint: string | null;
  readonly audience: string | null;
  readonly scopes: readonly string[];
  readonly responseMode?: string | undefined;
  /** True if the client sent `prompt=none`. The server must then show no page. */
  readonly silent?: true | undefined;
}

/** Checks a request and returns what it found. Throws an OAuthError to refuse the request. */
export type RequestCheck = (
  request: RequestToCheck,
) => Partial<Findings> | Promise<Partial<Findings>>;

/** The checks that features replace, and the request parameters that features add. */
export interface RequestReading {
  /** These checks replace Portico's checks with the same names. */
  readonly checks: Readonly<Record<string, RequestCheck>>;
  /**
   * The parameters that features add. A request may contain each of them only once. The server
   * stores them with the request.
   */
  readonly parameters: readonly string[];
}
