import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { ReturnAddress } from './response-modes.ts';

/** An authorization request to check. Its client and redirect URI are already verified. */
export interface RequestToCheck {
  readonly parameters: Parameters;
  readonly client: Client;
  /** The request's redirect URI and state. */
  readonly returns: ReturnAddress;
  /**
   * Whether the client sent the request directly to the server. If so, the browser sends only a
   * reference to the request.
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
  /** True if the server must not show a page, because the client sent `prompt=none`. */
  readonly silent?: true | undefined;
}

/** Checks a request and returns what it found. Throws an OAuthError to refuse the request. */
export type RequestCheck = (
  request: RequestToCheck,
) => Partial<Findings> | Promise<Partial<Findings>>;

/** The checks that features replace, and the request parameters that features add. */
export interface RequestReading {
  /** Checks that run instead of Portico's checks with the same names. */
  readonly checks: Readonly<Record<string, RequestCheck>>;
  /**
   * The parameters that features add. A request may contain each of them only once. The server
   * stores them with the request.
   */
  readonly parameters: readonly string[];
}
