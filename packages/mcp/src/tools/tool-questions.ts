import { isLoopback, wellFormedJson } from 'portico/extension';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { readAs, readShort } from '../protocol/protocol-types.ts';
import type { JsonSchema } from './tool-description.ts';

/** What a tool asks, through the client: the person, by a form or by a page of its own, or the client itself. */
export type ToolQuestion = FormQuestion | PageQuestion | ClientQuestion;

/** A form that the client shows to the person. Never ask for a secret by it: the client, and perhaps its model, reads the answer. */
export interface FormQuestion {
  /** What the person reads. */
  readonly message: string;
  /** An object whose properties are texts, numbers, booleans and choices (MCP, Elicitation, Requested Schema). */
  readonly schema: JsonSchema;
}

/** A page that the client asks the person to open, for what the client must not see. Whether it was done, the application knows. */
export interface PageQuestion {
  /** What the person reads. */
  readonly message: string;
  /** An https URL. The page has to see for itself that the same person is signed in. */
  readonly url: string;
}

/** A request to the client itself. MCP deprecates both kinds. */
export interface ClientQuestion {
  /** What it is asked for. */
  readonly method: 'sampling/createMessage' | 'roots/list';
  /** As MCP has them. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** What came back. */
export interface ToolAnswer {
  /** What the person did: `decline` says no, `cancel` nothing. */
  readonly action: 'accept' | 'decline' | 'cancel';
  /** What a form was filled in with, as its schema has it; for a question to the client its whole result. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** A question as it is sent (MCP, InputRequests). */
export interface InputRequest {
  /** What the client is to do. */
  readonly method: 'elicitation/create' | ClientQuestion['method'];
  /** As MCP has them. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Questions that a tool has returned in place of a result. */
export class ToolQuestions {
  /** By the names that the tool has given them. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** What the tool wants back with the answers; JSON. */
  readonly state: unknown;

  /** Use `ask()`. */
  constructor(questions: Readonly<Record<string, ToolQuestion>>, state: unknown) {
    const requests = Object.entries(questions).map(([name, question]) => [
      name,
      inputRequest(name, question),
    ]);
    if (requests.length === 0) throw new TypeError('ask() was given no question');
    // The answers have to fit what the client is sent.
    this.requests = wellFormedJson(Object.fromEntries(requests) as Readonly<Record<string, InputRequest>>);
    this.state = state;
  }

  /** What of it the client has not declared that it can do; null for nothing. */
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
 * Returned by a tool in place of a result: the client puts the questions, and calls the tool again with the same arguments and the
 * answers (MCP 2026-07-28, Multi Round-Trip Requests). `state` comes back as it is: encrypted on its way, and good for the same
 * person, client, tool and arguments alone, for as long as `oauth_server:consent_ttl`.
 */
export function ask(questions: Readonly<Record<string, ToolQuestion>>, state: unknown = null): ToolQuestions {
  return new ToolQuestions(questions, state);
}

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

function inputRequest(name: string, question: ToolQuestion): InputRequest {
  if (!NAME.test(name))
    throw new TypeError(`The question ${JSON.stringify(name)} has no name of 1 to 64 of A-Z a-z 0-9 _ - .`);
  if ('method' in question) return clientRequest(name, question);
  if ('url' in question) {
    const { message, url } = question;
    if (typeof message !== 'string' || !isPage(url))
      throw new TypeError(`The page of the question ${name} is no https URL`);
    return { method: 'elicitation/create', params: { mode: 'url', message, url } };
  }
  const { message, schema } = question;
  const request = {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schema },
  } as const;
  if (readAs('ElicitRequest', request) !== null) return request;
  throw new TypeError(`The question ${name} is no form as MCP has them`);
}

function clientRequest(name: string, { method, params }: ClientQuestion): InputRequest {
  const type = method === 'roots/list' ? 'ListRootsRequest' : 'CreateMessageRequest';
  if (readAs(type, { method, params }) !== null) return { method, params };
  throw new TypeError(`The question ${name} is no ${method} of MCP`);
}

function isPage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)));
}

type Capability = 'elicitation' | 'sampling' | 'roots';

function needed({ method, params }: InputRequest): readonly [Capability, string | null] {
  if (method === 'roots/list') return ['roots', null];
  if (method === 'elicitation/create') return ['elicitation', params['mode'] === 'url' ? 'url' : 'form'];
  return ['sampling', 'tools' in params || 'toolChoice' in params ? 'tools' : null];
}

/** `elicitation: {}` means forms (MCP, Elicitation, Capabilities). */
export function canDo(declared: ClientCapabilities, capability: Capability, part: string | null): boolean {
  const has: Readonly<Record<string, unknown>> | undefined = declared[capability];
  if (has === undefined || part === null) return has !== undefined;
  return has[part] !== undefined || (part === 'form' && has['url'] === undefined);
}

/** The answer to a question; null when it is none that was asked for. */
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
  if (!new AjvJsonSchemaValidator().getValidator(schema)(filledIn).valid) return null;
  // Nobody was shown a field of another name, whatever the client sends.
  const fields = Object(schema['properties']) as object;
  const asked = Object.entries(filledIn).filter(([name]) => Object.hasOwn(fields, name));
  return { action, content: Object.fromEntries(asked) };
}
