import { createHash, randomUUID } from 'node:crypto';
import { type AuthorizationServer, token } from 'portico';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import {
  canDo,
  readAnswer,
  type InputRequest,
  type ToolAnswer,
  type ToolQuestions,
} from './tool-questions.ts';
import type { RegisteredTool } from './tools.ts';

/**
 * One request of a tool call. The first request has no answers, and later ones contain answers to
 * the tool's questions.
 */
export interface Round {
  /**
   * Returns the id of the call, which is created on first use. It is the same in all rounds of the
   * call, and different from the id of any other call.
   */
  readonly id: () => string;
  /**
   * Returns the answer to a question. Returns null if the tool did not ask it, or if it was not
   * answered.
   */
  readonly answer: (name: string) => ToolAnswer | null;
  /** The state that the tool passed to `ask()`, or null in the first round. */
  readonly state: unknown;
  /** Whether the client can ask this kind of question. */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/**
 * The maximum size of the questions and the tool's state, in characters. It is limited, because
 * clients must send them back.
 */
const LARGEST_STATE = 65_536;

interface Sealed {
  readonly id: string;
  readonly asked: Readonly<Record<string, InputRequest>>;
  readonly state: unknown;
}

/**
 * Connects the requests of one tool call (MCP 2026-07-28, Multi Round-Trip Requests). The server
 * stores nothing. It encrypts the questions and the tool's state, and sends them to the client in
 * `requestState`. The client sends `requestState` back with the answers. The server can decrypt it
 * only for the same endpoint, user, client, tool and arguments (decision 39).
 */
export class Rounds {
  readonly #sealing: AuthorizationServer['sealing'];
  readonly #resource: string;

  constructor(sealing: AuthorizationServer['sealing'], resource: string) {
    this.#sealing = sealing;
    this.#resource = resource;
  }

  /** Returns the round for a request, or the problem with the request. */
  async read(
    tool: RegisteredTool,
    args: unknown,
    { requestState, inputResponses = {} }: Readonly<Record<string, unknown>>,
    capabilities: ClientCapabilities,
  ): Promise<Round | { readonly problem: string }> {
    // Without `requestState`, the questions are unknown. Ignore the answers, so that the tool asks
    // again.
    if (requestState === undefined) return firstRound(capabilities);
    if (!isObject(inputResponses)) return { problem: 'inputResponses is not an object.' };
    const text =
      typeof requestState === 'string'
        ? await this.#sealing.open(this.#purposeOf(tool, args), requestState)
        : null;
    if (text === null)
      return {
        problem:
          'requestState is not good for this request, or no longer: call the tool without it.',
      };
    const { id, asked, state } = JSON.parse(text) as Sealed;
    const answers = new Map<string, ToolAnswer>();
    for (const [name, request] of Object.entries(asked)) {
      if (!Object.hasOwn(inputResponses, name)) continue;
      const answer = readAnswer(request, inputResponses[name]);
      if (answer === null)
        return { problem: `The answer to ${name} does not match what was asked.` };
      answers.set(name, answer);
    }
    return {
      id: () => id,
      answer: (name) => answers.get(name) ?? null,
      state,
      canAsk: canAskBy(capabilities),
    };
  }

  /** Returns the result that makes the client ask the questions. */
  async ask(
    tool: RegisteredTool,
    args: unknown,
    round: Round,
    { requests, state }: ToolQuestions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const sealed = JSON.stringify({ id: round.id(), asked: requests, state } satisfies Sealed);
    if (sealed.length > LARGEST_STATE)
      throw new RangeError(
        `The questions and the state that the tool ${tool.name} passes to ask() are too long`,
      );
    return {
      resultType: 'input_required',
      inputRequests: requests,
      requestState: await this.#sealing.seal(this.#purposeOf(tool, args), sealed),
    };
  }

  /**
   * Returns the purpose of the encryption. It binds the encrypted state to the endpoint, user,
   * client, tool and arguments.
   */
  #purposeOf({ name }: RegisteredTool, args: unknown): string {
    const reference = token().user()?.reference;
    const person = reference === undefined ? null : [reference.provider, reference.id];
    const bound = JSON.stringify([this.#resource, token().clientId(), person, name, ordered(args)]);
    return `mcp ${createHash('sha256').update(bound).digest('base64url')}`;
  }
}

/**
 * Returns the only round of a call. Use it for protocol versions in which tools cannot ask
 * questions.
 */
export function onlyRound(): Round {
  return firstRound({});
}

function firstRound(capabilities: ClientCapabilities): Round {
  let made: string | null = null;
  return {
    id: () => (made ??= randomUUID()),
    answer: () => null,
    state: null,
    canAsk: canAskBy(capabilities),
  };
}

function canAskBy(capabilities: ClientCapabilities): Round['canAsk'] {
  return (kind) => canDo(capabilities, 'elicitation', kind === 'page' ? 'url' : 'form');
}

/**
 * Sorts the members of objects, so that equal arguments have the same text. In a later round, a
 * client can send the members in a different order.
 */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  // Use pairs instead of an object. An object would move members that look like numbers, and lose
  // the member `__proto__`.
  return {
    o: Object.keys(value)
      .sort()
      .map((key) => [key, ordered(value[key])]),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
