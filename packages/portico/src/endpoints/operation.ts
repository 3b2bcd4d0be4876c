/** Describes endpoints in terms of OpenAPI 3.1. */

/** JSON Schema draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

/** Response Object of OpenAPI 3.1. */
export interface OperationResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
  /** By media type. Missing for a response without a body. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** Operation Object of OpenAPI 3.1. */
export interface Operation {
  readonly summary: string;
  /** If missing, no authentication is needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'query' | 'header';
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  /** By HTTP status. */
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

/** By HTTP method. */
export type Operations = Readonly<
  Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>
>;

export const TEXT: Schema = { type: 'string' };
export const URL_TEXT: Schema = { type: 'string', format: 'uri' };
export const TEXTS: Schema = { type: 'array', items: TEXT };
/** A time or a duration, in seconds. */
export const SECONDS: Schema = { type: 'integer' };

/** The object may have other properties too. */
export function objectOf(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { type: 'object', properties, required };
}

/** RFC 6749 section 5.2. */
export const ERROR: Schema = objectOf({ error: TEXT, error_description: TEXT }, ['error']);

/** With a reference, the OpenAPI document contains this schema only once. */
const ERROR_REFERENCE: Schema = { $ref: '#/components/schemas/Error' };

export function jsonAnswer(description: string, schema: Schema): OperationResponse {
  return { description, content: { 'application/json': { schema } } };
}

export function errorAnswer(description: string): OperationResponse {
  return jsonAnswer(description, ERROR_REFERENCE);
}

export function pageAnswer(description: string): OperationResponse {
  return { description, content: { 'text/html': { schema: TEXT } } };
}

/** HTML for browsers, and JSON for other callers. */
export function pageErrorAnswer(description: string): OperationResponse {
  return {
    description,
    content: { 'text/html': { schema: TEXT }, 'application/json': { schema: ERROR_REFERENCE } },
  };
}

export function redirectAnswer(description: string): OperationResponse {
  return { description, headers: { Location: { schema: { type: 'string' } } } };
}

export function formBody(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): NonNullable<Operation['requestBody']> {
  const schema = objectOf(properties, required);
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}

/**
 * The empty option is for clients with their credentials, or only their `client_id`, in the form.
 */
export const CLIENT_AUTHENTICATION = [{ client_secret_basic: [] }, {}] as const;

/** RFC 6749 section 2.3.1. */
export const CLIENT_PARAMETERS: Readonly<Record<string, Schema>> = {
  client_id: TEXT,
  client_secret: TEXT,
  client_assertion_type: TEXT,
  client_assertion: TEXT,
};

export const CLIENT_ERRORS: Readonly<Record<string, OperationResponse>> = {
  400: errorAnswer('The request is not valid.'),
  401: errorAnswer('The client did not authenticate.'),
  413: errorAnswer('The body is too large.'),
  429: errorAnswer('There were too many attempts. Try again after `Retry-After`.'),
};
