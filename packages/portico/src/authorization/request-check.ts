import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { ReturnAddress } from './response-modes.ts';

/** An authorization request whose client and redirect URI are valid. */
export interface RequestToCheck {
  readonly parameters: Parameters;
  readonly client: Client;
  /** The redirect URI and the state. */
  readonly returns: ReturnAddress;
  /**
   * Whether the client sent the request directly to the server. The browser then sends only a
   * reference to the request.
   */
  readonly direct: boolean;
}

/** The results of the checks. */
export interface Findings {
  readonly codeChallenge: string;
  readonly thumbprint: string | null;
  readonly audience: string | null;
  readonly scopes: readonly string[];
  readonly responseMode?: string | undefined;
  /** True if the server must not show a page (`prompt=none`). */
  readonly silent?: true | undefined;
}

/** Checks a request. Returns its results, or throws an OAuthError to refuse the request. */
export type RequestCheck = (
  request: RequestToCheck,
) => Partial<Findings> | Promise<Partial<Findings>>;

/** The checks that features replace and the request parameters that they add. */
export interface RequestReading {
  /** Checks that run instead of Portico's checks of the same name. */
  readonly checks: Readonly<Record<string, RequestCheck>>;
  /**
   * The additional parameters of the features. A request may contain each of them once. The server
   * stores them with the request.
   */
  readonly parameters: readonly string[];
}
