import { OAuthError } from '../errors.ts';
import { notAnswerable } from './consent-errors.ts';
import type { Parameters } from '../parameters.ts';
import { quoted } from '../quoting.ts';

/**
 * Defines how a response reaches the redirect URI (OAuth 2.0 Multiple Response Type Encoding
 * Practices section 2.1).
 */
export interface ResponseMode {
  readonly name: string;
  /**
   * Returns why this mode cannot send the response to this redirect URI with this state, for the
   * log. Returns null if it can. Without this function, the mode can send every response.
   */
  problem?(returns: ReturnAddress): string | null;
}

export interface ReturnAddress {
  readonly redirectUri: string;
  /** The state that the client sent. Null if the client sent no state or several states. */
  readonly state: string | null;
}

/** The response mode that the client requested. Missing for the default mode, `query`. */
export interface AskedMode {
  readonly responseMode?: string | undefined;
}

export const QUERY = 'query';

export class ResponseModes<Mode extends ResponseMode = ResponseMode> {
  readonly #others: ReadonlyMap<string, Mode>;

  constructor(others: readonly Mode[]) {
    this.#others = new Map(others.map((mode) => [mode.name, mode]));
  }

  get names(): readonly string[] {
    return [QUERY, ...this.#others.keys()];
  }

  /**
   * Returns the mode of a request that has passed the checks, or null for `query`. Throws a page
   * error if the server no longer has this mode.
   */
  of({ responseMode = QUERY }: AskedMode): Mode | null {
    if (responseMode === QUERY) return null;
    const mode = this.#others.get(responseMode);
    if (mode === undefined)
      throw notAnswerable(`this server no longer supports the response_mode ${responseMode}`);
    return mode;
  }

  /**
   * Returns the requested mode. Throws an OAuthError if the server does not have this mode, or if
   * the mode cannot send the response.
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
   * Returns the mode for an error response: the requested mode if it can send the response.
   * Otherwise returns `query`, also for several requested modes.
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
