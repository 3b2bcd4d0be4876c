import { OAuthError } from '../errors.ts';
import { notAnswerable } from './consent-errors.ts';
import type { Parameters } from '../parameters.ts';
import { quoted } from '../quoting.ts';

/**
 * A response mode: how the response reaches the redirect URI (OAuth 2.0 Multiple Response Type
 * Encoding Practices section 2.1).
 */
export interface ResponseMode {
  /** The value of `response_mode`. */
  readonly name: string;
  /**
   * Returns why this mode cannot send a response with this state to this redirect URI, or null if
   * it can. The reason is for the log. Without this function, the mode can send every response.
   */
  problem?(returns: ReturnAddress): string | null;
}

/** The redirect URI of a response, and the state to send back. */
export interface ReturnAddress {
  readonly redirectUri: string;
  /** The state that the client sent. Null if the client sent no state or several states. */
  readonly state: string | null;
}

/** The requested response mode. Missing for the default, `query`. */
export interface AskedMode {
  readonly responseMode?: string | undefined;
}

/** The response mode that every server has. */
export const QUERY = 'query';

/** A server's response modes: `query`, and its features' modes. */
export class ResponseModes<Mode extends ResponseMode = ResponseMode> {
  readonly #others: ReadonlyMap<string, Mode>;

  constructor(others: readonly Mode[]) {
    this.#others = new Map(others.map((mode) => [mode.name, mode]));
  }

  /** Returns the names of all modes, for the metadata. */
  get names(): readonly string[] {
    return [QUERY, ...this.#others.keys()];
  }

  /**
   * Returns the mode for a checked request, or null for `query`. Throws a page error if the server
   * no longer offers this mode.
   */
  of({ responseMode = QUERY }: AskedMode): Mode | null {
    if (responseMode === QUERY) return null;
    const mode = this.#others.get(responseMode);
    if (mode === undefined)
      throw notAnswerable(`this server no longer supports the response_mode ${responseMode}`);
    return mode;
  }

  /**
   * Returns the requested mode. Throws an OAuthError if the server does not offer the mode, or if
   * the mode does not work for this request.
   */
  require(parameters: Parameters, returns: ReturnAddress): AskedMode {
    const asked = parameters.get('response_mode');
    if (asked === undefined || asked === QUERY) return {};
    const mode = this.#others.get(asked);
    if (mode === undefined) {
      const detail = `the response_mode is ${quoted(asked)}`;
      throw new OAuthError('invalid_request', this.#onlyThese(), detail);
    }
    const problem = mode.problem?.(returns) ?? null;
    if (problem === null) return { responseMode: mode.name };
    throw new OAuthError(
      'invalid_request',
      `This request cannot be answered with response_mode=${mode.name}.`,
      `this response_mode cannot send the response: ${problem}`,
    );
  }

  /**
   * Returns the mode for an error response: the requested mode if exactly one is requested and it
   * works, and `query` otherwise.
   */
  forError(parameters: Parameters, returns: ReturnAddress): AskedMode {
    if (parameters.isRepeated('response_mode')) return {};
    const mode = this.#others.get(parameters.get('response_mode') ?? QUERY);
    if (mode === undefined || (mode.problem?.(returns) ?? null) !== null) return {};
    return { responseMode: mode.name };
  }

  #onlyThese(): string {
    return this.#others.size === 0
      ? 'The only response_mode is query.'
      : `The response_mode is none of ${this.names.join(', ')}.`;
  }
}
