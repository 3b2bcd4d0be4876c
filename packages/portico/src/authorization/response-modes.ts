import { OAuthError } from '../errors.ts';
import { notAnswerable } from './consent-errors.ts';
import type { Parameters } from '../parameters.ts';
import { quoted } from '../quoting.ts';

/**
 * A way in which the response reaches the redirect URI (OAuth 2.0 Multiple Response Type Encoding
 * Practices section 2.1).
 */
export interface ResponseMode {
  /** The value of `response_mode`. */
  readonly name: string;
  /**
   * Why a response with this state cannot reach this redirect URI in this mode, for the log; null
   * if it can. Without it, every response can.
   */
  problem?(returns: ReturnAddress): string | null;
}

/** Where a response goes, and what it says besides its result. */
export interface ReturnAddress {
  readonly redirectUri: string;
  /** As the client sent it; null when it sent none, or several. */
  readonly state: string | null;
}

/** The mode of a request; absent for `query`, the mode of every client that asks for none. */
export interface AskedMode {
  readonly responseMode?: string | undefined;
}

/** The mode that every server has. */
export const QUERY = 'query';

/** The response modes of a server: `query`, and those of its features. */
export class ResponseModes<Mode extends ResponseMode = ResponseMode> {
  readonly #others: ReadonlyMap<string, Mode>;

  constructor(others: readonly Mode[]) {
    this.#others = new Map(others.map((mode) => [mode.name, mode]));
  }

  /** All names, for the metadata. */
  get names(): readonly string[] {
    return [QUERY, ...this.#others.keys()];
  }

  /**
   * The mode of a checked request; null for `query`. Throws a page error if the server no longer
   * has it.
   */
  of({ responseMode = QUERY }: AskedMode): Mode | null {
    if (responseMode === QUERY) return null;
    const mode = this.#others.get(responseMode);
    if (mode === undefined)
      throw notAnswerable(`this server no longer has the response_mode ${responseMode}`);
    return mode;
  }

  /** The mode that the request asks for. Throws the OAuthError that refuses any other. */
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
      `this response_mode cannot answer: ${problem}`,
    );
  }

  /** The mode for an error: the one that the request asks for, if that is certain and possible. */
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
