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

/** One of the requests that a call of a tool takes: the first, or one with answers. */
export interface Round {
  /** The same in all rounds of a call, and in no other; made when it is asked for. */
  readonly id: () => string;
  /** Null for what was not asked or not answered. */
  readonly answer: (name: string) => ToolAnswer | null;
  /** What the tool gave to `ask()`; null in the first round. */
  readonly state: unknown;
  /** Whether the client can put such a question. */
  readonly canAsk: (kind: 'form' | 'page') => boolean;
}

/** What a client has to carry and send again, in characters. */
const LARGEST_STATE = 65_536;

interface Sealed {
  readonly id: string;
  readonly asked: Readonly<Record<string, InputRequest>>;
  readonly state: unknown;
}

/**
 * Several requests for one call of a tool (MCP 2026-07-28, Multi Round-Trip Requests). Nothing is stored: what was asked, and what
 * the tool wants back, travels by way of the client in `requestState`, encrypted under a name made of whom and what it is good for.
 * The same person, client, tool and arguments come to the same name; for all others it does not open (decision 39).
 */
export class Rounds {
  readonly #sealing: AuthorizationServer['sealing'];
  readonly #resource: string;

  constructor(sealing: AuthorizationServer['sealing'], resource: string) {
    this.#sealing = sealing;
    this.#resource = resource;
  }

  /** The round that a request is, or why it is none. */
  async read(
    tool: RegisteredTool,
    args: unknown,
    { requestState, inputResponses = {} }: Readonly<Record<string, unknown>>,
    capabilities: ClientCapabilities,
  ): Promise<Round | { readonly problem: string }> {
    // Answers without what they answer are ignored; the tool asks again.
    if (requestState === undefined) return firstRound(capabilities);
    if (!isObject(inputResponses)) return { problem: 'inputResponses is no object.' };
    const text =
      typeof requestState === 'string'
        ? await this.#sealing.open(this.#purposeOf(tool, args), requestState)
        : null;
    if (text === null)
      return {
        problem: 'requestState is not good for this request, or no longer: call the tool without it.',
      };
    const { id, asked, state } = JSON.parse(text) as Sealed;
    const answers = new Map<string, ToolAnswer>();
    for (const [name, request] of Object.entries(asked)) {
      if (!Object.hasOwn(inputResponses, name)) continue;
      const answer = readAnswer(request, inputResponses[name]);
      if (answer === null) return { problem: `The answer to ${name} is none to what was asked.` };
      answers.set(name, answer);
    }
    return {
      id: () => id,
      answer: (name) => answers.get(name) ?? null,
      state,
      canAsk: canAskBy(capabilities),
    };
  }

  /** The result that asks. */
  async ask(
    tool: RegisteredTool,
    args: unknown,
    round: Round,
    { requests, state }: ToolQuestions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const sealed = JSON.stringify({ id: round.id(), asked: requests, state } satisfies Sealed);
    if (sealed.length > LARGEST_STATE)
      throw new RangeError(`What ${tool.name} asks and its state are too long`);
    return {
      resultType: 'input_required',
      inputRequests: requests,
      requestState: await this.#sealing.seal(this.#purposeOf(tool, args), sealed),
    };
  }

  /** Whom and what a state is good for. */
  #purposeOf({ name }: RegisteredTool, args: unknown): string {
    const reference = token().user()?.reference;
    const person = reference === undefined ? null : [reference.provider, reference.id];
    const bound = JSON.stringify([this.#resource, token().clientId(), person, name, ordered(args)]);
    return `mcp ${createHash('sha256').update(bound).digest('base64url')}`;
  }
}

/** For versions in which nothing can be asked. */
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

/** The same text for the same arguments: a client may write the members of an object in another order the second time. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  // Pairs in place of members: an object would reorder those that look like numbers, and lose `__proto__`.
  return {
    o: Object.keys(value)
      .sort()
      .map((key) => [key, ordered(value[key])]),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
