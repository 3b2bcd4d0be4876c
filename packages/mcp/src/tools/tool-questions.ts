import { isLoopback, wellFormedJson } from 'portico/extension';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { readAs, readShort } from '../protocol/protocol-types.ts';
import { schemaCheck } from './json-schema.ts';
import type { JsonSchema } from './tool-description.ts';

/**
 * A question of a tool. The user answers a form or a page. The client answers a client question.
 */
export type ToolQuestion = FormQuestion | PageQuestion | ClientQuestion;

/**
 * A form that the client shows to the user. Never ask for a secret in a form: the client reads the
 * answer, and its model may read it too.
 */
export interface FormQuestion {
  /** The text for the user. */
  readonly message: string;
  /**
   * A schema that describes an object. Its properties may be strings, numbers, booleans and enums
   * (MCP, Elicitation, Requested Schema).
   */
  readonly schema: JsonSchema;
}

/**
 * A page that the client asks the user to open. Use a page for data that the client must not see.
 * Your application must track whether the user has finished.
 */
export interface PageQuestion {
  /** The text for the user. */
  readonly message: string;
  /** An https URL. Your page must check that the same user is signed in. */
  readonly url: string;
}

/** A request to the client itself. MCP deprecates both methods. */
export interface ClientQuestion {
  /** The MCP method. */
  readonly method: 'sampling/createMessage' | 'roots/list';
  /** The parameters, as MCP defines them. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer to a question of a tool. */
export interface ToolAnswer {
  /** What the user did: `decline` means no, `cancel` means no answer. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /**
   * The completed form, as the form's schema defines it. For a client question, the client's whole
   * result.
   */
  readonly content: Readonly<Record<string, unknown>>;
}

/** A question as Portico sends it to the client (MCP, InputRequests). */
export interface InputRequest {
  /** The MCP method that the client must run. */
  readonly method: 'elicitation/create' | ClientQuestion['method'];
  /** The parameters, as MCP defines them. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Questions that a tool returns instead of a result. Create them with `ask()`. */
export class ToolQuestions {
  /** The questions, by the names that the tool gave them. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** The JSON value that the client returns with the answers. */
  readonly state: unknown;

  /** Do not call this constructor. Use `ask()`. */
  constructor(questions: Readonly<Record<string, ToolQuestion>>, state: unknown) {
    const requests = Object.entries(questions).map(([name, question]) => [
      name,
      inputRequest(name, question),
    ]);
    if (requests.length === 0) throw new TypeError('ask() needs at least one question');
    // Convert the questions now. Answers are checked against the converted questions.
    this.requests = wellFormedJson(
      Object.fromEntries(requests) as Readonly<Record<string, InputRequest>>,
    );
    this.state = state;
  }

  /**
   * Returns the capabilities that the questions need and the client has not declared. Returns null
   * if no capability is missing.
   */
  missing(declared: ClientCapabilities): ClientCapabilities | null {
    const missing: Record<string, Record<string, object>> = {};
    for (const request of Object.values(this.requests)) {
      const [capability, part] = needed(request);
      if (canDo(declared, capability, part)) continue;
      missing[capability] = { ...missing[capability], ...(part === null ? {} : { [part]: {} }) };
    }
    return Object.keys(missing).length === 0 ? null : missing;
  }
}

/**
 * Creates questions. Return them from a tool instead of a result. The client asks the questions,
 * and then calls the tool again with the same arguments and the answers (MCP 2026-07-28, Multi
 * Round-Trip Requests). The tool gets `state` back unchanged, and the client sees it only in
 * encrypted form. The state is valid for `oauth_server:consent_ttl`, and only for the same user,
 * client, tool and arguments.
 */
export function ask(
  questions: Readonly<Record<string, ToolQuestion>>,
  state: unknown = null,
): ToolQuestions {
  return new ToolQuestions(questions, state);
}

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

function inputRequest(name: string, question: ToolQuestion): InputRequest {
  if (!NAME.test(name))
    throw new TypeError(
      `The name of the question ${JSON.stringify(name)} must begin with a letter and have at ` +
        'most 64 of these characters: A-Z a-z 0-9 _ - .',
    );
  if ('method' in question) return clientRequest(name, question);
  if ('url' in question) {
    const { message, url } = question;
    if (typeof message !== 'string' || !isPage(url))
      throw new TypeError(`The question ${name} needs a message and the https URL of a page`);
    return { method: 'elicitation/create', params: { mode: 'url', message, url } };
  }
  const { message, schema } = question;
  const request = {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schema },
  } as const;
  if (readAs('ElicitRequest', request) !== null) return request;
  throw new TypeError(
    `The message or schema of the question ${name} does not describe a form that MCP allows`,
  );
}

function clientRequest(name: string, { method, params }: ClientQuestion): InputRequest {
  const type = method === 'roots/list' ? 'ListRootsRequest' : 'CreateMessageRequest';
  if (readAs(type, { method, params }) !== null) return { method, params };
  throw new TypeError(`The question ${name} is not a valid ${method} request of MCP`);
}

function isPage(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)))
  );
}

type Capability = 'elicitation' | 'sampling' | 'roots';

function needed({ method, params }: InputRequest): readonly [Capability, string | null] {
  if (method === 'roots/list') return ['roots', null];
  if (method === 'elicitation/create')
    return ['elicitation', params['mode'] === 'url' ? 'url' : 'form'];
  return ['sampling', 'tools' in params || 'toolChoice' in params ? 'tools' : null];
}

/**
 * Whether the client declared a capability. `elicitation: {}` means that the client can show forms
 * (MCP, Elicitation, Capabilities).
 */
export function canDo(
  declared: ClientCapabilities,
  capability: Capability,
  part: string | null,
): boolean {
  const has: Readonly<Record<string, unknown>> | undefined = declared[capability];
  if (has === undefined || part === null) return has !== undefined;
  return has[part] !== undefined || (part === 'form' && has['url'] === undefined);
}

/** Reads the answer to a question. Returns null if the answer does not match the question. */
export function readAnswer({ method, params }: InputRequest, sent: unknown): ToolAnswer | null {
  if (method !== 'elicitation/create') {
    const type = method === 'roots/list' ? 'ListRootsResult' : 'CreateMessageResult';
    const result = readShort(type, sent);
    return result === null ? null : { action: 'accept', content: result };
  }
  const answer = readShort('ElicitResult', sent);
  if (answer === null) return null;
  const { action, content } = answer;
  if (action !== 'accept' || params['mode'] === 'url') return { action, content: {} };
  const filledIn = content ?? {};
  const schema = params['requestedSchema'] as Record<string, unknown>;
  if (schemaCheck(schema)(filledIn) !== null) return null;
  // Remove fields that the form did not have.
  const fields = Object(schema['properties']) as object;
  const asked = Object.entries(filledIn).filter(([name]) => Object.hasOwn(fields, name));
  return { action, content: Object.fromEntries(asked) };
}
