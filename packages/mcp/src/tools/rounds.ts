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

/** One request in a tool call: the first one, or a later one with answers. */
export interface Round {
  /** The same in all rounds of a call, and different for every other call. Created on first use. */
  readonly id: () => string;
  /** Returns null if the question was not asked or not answered. */
  readonly answer: (name: string) => ToolAnswer | null;
  /** The state that the tool passed to `ask()`. Null in the first round. */
  readonly state: unknown;
  /** Whether the client can ask such a question. */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/** The largest state that a client must send back, in characters. */
const LARGEST_STATE = 65_536;

interface Sealed {
  readonly id: string;
  readonly asked: Readonly<Record<string, InputRequest>>;
  readonly state: unknown;
}

/**
 * Handles several requests for one tool call (MCP 2026-07-28, Multi Round-Trip Requests). The
 * server stores nothing. The client receives the questions and the tool's state in `requestState`
 * and sends them back. They are encrypted under a name derived from the person, client, tool and
 * arguments. Only a request with the same four can decrypt them (decision 39).
 */
export class Rounds {
  readonly #sealing: AuthorizationServer['sealing'];
  readonly #resource: string;

  constructor(sealing: AuthorizationServer['sealing'], resource: string) {
    this.#sealing = sealing;
    this.#resource = resource;
  }

  /** Returns the request's round, or why it is invalid. */
  async read(
    tool: RegisteredTool,
    args: unknown,
    { requestState, inputResponses = {} }: Readonly<Record<string, unknown>>,
    capabilities: ClientCapabilities,
  ): Promise<Round | { readonly problem: string }> {
    // Ignore answers without their questions. The tool asks again.
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

  /** Returns the result that asks the questions. */
  async ask(
    tool: RegisteredTool,
    args: unknown,
    round: Round,
    { requests, state }: ToolQuestions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const sealed = JSON.stringify({ id: round.id(), asked: requests, state } satisfies Sealed);
    if (sealed.length > LARGEST_STATE)
      throw new RangeError(`The questions of ${tool.name} and their state are too long`);
    return {
      resultType: 'input_required',
      inputRequests: requests,
      requestState: await this.#sealing.seal(this.#purposeOf(tool, args), sealed),
    };
  }

  /** Returns the name that binds a state to its person, client, tool and arguments. */
  #purposeOf({ name }: RegisteredTool, args: unknown): string {
    const reference = token().user()?.reference;
    const person = reference === undefined ? null : [reference.provider, reference.id];
    const bound = JSON.stringify([this.#resource, token().clientId(), person, name, ordered(args)]);
    return `mcp ${createHash('sha256').update(bound).digest('base64url')}`;
  }
}

/** Returns the only round, for versions without questions. */
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
 * Sorts members, so that the same arguments give the same text. A client may send an object's
 * members in another order the second time.
 */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  // Use pairs, because an object would reorder members that look like numbers, and lose
  // `__proto__`.
  return {
    o: Object.keys(value)
      .sort()
      .map((key) => [key, ordered(value[key])]),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
