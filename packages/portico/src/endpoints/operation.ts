/** Describes the HTTP interface of endpoints in terms of OpenAPI 3.1. */

/** A JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** A response of an endpoint (OpenAPI 3.1, Response Object). */
export interface OperationResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
  /** The schema of the body for each media type. Missing for a response without a body. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** One HTTP method of an endpoint (OpenAPI 3.1, Operation Object). */
export interface Operation {
  /** A short sentence that describes what the endpoint does. */
  readonly summary: string;
  /** How callers can authenticate. If missing, no authentication is needed. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** The query parameters and request headers. */
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
  /** The responses, by HTTP status. */
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

/** The operations of an endpoint, by HTTP method. */
export type Operations = Readonly<
  Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>
>;

/** The schema of a string, for example a token. */
export const TEXT: Schema = { type: 'string' };
/** The schema of a URL. */
export const URL_TEXT: Schema = { type: 'string', format: 'uri' };
/** The schema of a list of strings. */
export const TEXTS: Schema = { type: 'array', items: TEXT };
/** The schema of a time or a duration in seconds. */
export const SECONDS: Schema = { type: 'integer' };

/**
 * Returns the schema of an object with these properties. The object may have other properties too.
 */
export function objectOf(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { type: 'object', properties, required };
}

/** The schema of the body of a JSON error (RFC 6749 section 5.2). */
export const ERROR: Schema = objectOf({ error: TEXT, error_description: TEXT }, ['error']);

/** A reference to `ERROR`, so that the OpenAPI document contains this schema only once. */
const ERROR_REFERENCE: Schema = { $ref: '#/components/schemas/Error' };

/** Describes a response with a JSON body. */
export function jsonAnswer(description: string, schema: Schema): OperationResponse {
  return { description, content: { 'application/json': { schema } } };
}

/** Describes a response with an error in JSON. */
export function errorAnswer(description: string): OperationResponse {
  return jsonAnswer(description, ERROR_REFERENCE);
}

/** Describes a response with an HTML page. */
export function pageAnswer(description: string): OperationResponse {
  return { description, content: { 'text/html': { schema: TEXT } } };
}

/** Describes an error response, which is HTML for browsers and JSON for other callers. */
export function pageErrorAnswer(description: string): OperationResponse {
  return {
    description,
    content: { 'text/html': { schema: TEXT }, 'application/json': { schema: ERROR_REFERENCE } },
  };
}

/** Describes a response that redirects the browser. */
export function redirectAnswer(description: string): OperationResponse {
  return { description, headers: { Location: { schema: { type: 'string' } } } };
}

/** Describes the body of a request that sends a form. */
export function formBody(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): NonNullable<Operation['requestBody']> {
  const schema = objectOf(properties, required);
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}

/**
 * The security requirement of endpoints where clients authenticate. The empty option is for clients
 * that send their credentials, or only their `client_id`, in the form.
 */
export const CLIENT_AUTHENTICATION = [{ client_secret_basic: [] }, {}] as const;

/** The form parameters for client authentication (RFC 6749 section 2.3.1). */
export const CLIENT_PARAMETERS: Readonly<Record<string, Schema>> = {
  client_id: TEXT,
  client_secret: TEXT,
  client_assertion_type: TEXT,
  client_assertion: TEXT,
};

/** The error responses of endpoints where clients authenticate. */
export const CLIENT_ERRORS: Readonly<Record<string, OperationResponse>> = {
  400: errorAnswer('The request is not valid.'),
  401: errorAnswer('The client did not authenticate.'),
  413: errorAnswer('The body is too large.'),
  429: errorAnswer('There were too many attempts. Try again after `Retry-After`.'),
};
