import { isLoopback, wellFormedJson } from 'portico/extension';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { readAs, readShort } from '../protocol/protocol-types.ts';
import { schemaCheck } from './json-schema.ts';
import type { JsonSchema } from './tool-description.ts';

/**
 * A question that a tool asks. The user answers forms and pages. The client itself answers client
 * questions.
 */
export type ToolQuestion = FormQuestion | PageQuestion | ClientQuestion;

/**
 * A form that the client shows to the user. Never ask for a secret in a form, because the client
 * can read the answer, and so may its model.
 */
export interface FormQuestion {
  /** The text to show to the user. */
  readonly message: string;
  /**
   * The schema of the form, which must describe an object. Its properties may be strings, numbers,
   * booleans and enums (MCP, Elicitation, Requested Schema).
   */
  readonly schema: JsonSchema;
}

/**
 * A page that the client asks the user to open. Use a page to ask for data that the client must not
 * see. The client does not know whether the user has finished, so your application must keep track
 * of this.
 */
export interface PageQuestion {
  /** The text to show to the user. */
  readonly message: string;
  /**
   * An https URL. With http, only loopback URLs are allowed. The page must check that the same user
   * is signed in.
   */
  readonly url: string;
}

/** A question that the client itself answers. MCP deprecates both of these methods. */
export interface ClientQuestion {
  /** The MCP method that the client runs. */
  readonly method: 'sampling/createMessage' | 'roots/list';
  /** The parameters of the method, as defined by MCP. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer to a tool's question. */
export interface ToolAnswer {
  /**
   * What the user did. `decline` means that the user refused. `cancel` means that the user did not
   * answer.
   */
  readonly action: 'accept' | 'decline' | 'cancel';
  /**
   * The completed form, which matches the form's schema. Empty for a page, and if the user did not
   * accept. For a client question, this is the client's complete result.
   */
  readonly content: Readonly<Record<string, unknown>>;
}

/** A question in the form that Portico sends to the client (MCP, InputRequests). */
export interface InputRequest {
  /** The MCP method that the client must run to answer the question. */
  readonly method: 'elicitation/create' | ClientQuestion['method'];
  /** The parameters of the method, as defined by MCP. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The questions that a tool returns instead of a result. Use `ask()` to create them. */
export class ToolQuestions {
  /** The questions, keyed by the names that the tool gave them. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** The tool's state, a JSON value. The client sends it back with the answers. */
  readonly state: unknown;

  /** Do not call this constructor. Use `ask()` instead. */
  constructor(questions: Readonly<Record<string, ToolQuestion>>, state: unknown) {
    const requests = Object.entries(questions).map(([name, question]) => [
      name,
      inputRequest(name, question),
    ]);
    if (requests.length === 0) throw new TypeError('ask() needs at least one question');
    // Convert the questions to well-formed text now, because answers are checked against the
    // questions that the client received.
    this.requests = wellFormedJson(
      Object.fromEntries(requests) as Readonly<Record<string, InputRequest>>,
    );
    this.state = state;
  }

  /**
   * Returns the capabilities that the questions need but the client has not declared, or null if
   * none is missing.
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
 * Creates questions that a tool returns instead of a result. The client asks them, and then calls
 * the tool again with the same arguments and the answers (MCP 2026-07-28, Multi Round-Trip
 * Requests). The tool gets `state` back unchanged. The client sees `state` only in encrypted form.
 * It is valid for `oauth_server:consent_ttl`, and only for the same user, client, tool and
 * arguments. Throws a TypeError if there is no question, or if MCP does not allow one of them.
 *
 * @example
 * const sure = { type: 'object', properties: { sure: { type: 'boolean' } } };
 * if (call.answer('sure') === null) return ask({ sure: { message: 'Delete it?', schema: sure } });
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
 * Whether the client has declared a capability. `elicitation: {}` means that the client can show
 * forms (section "Capabilities" of elicitation in the MCP specification).
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

/** Reads the answer to a question, or returns null if it does not match the question. */
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
  // Remove fields that were not in the form.
  const fields = Object(schema['properties']) as object;
  const asked = Object.entries(filledIn).filter(([name]) => Object.hasOwn(fields, name));
  return { action, content: Object.fromEntries(asked) };
}
