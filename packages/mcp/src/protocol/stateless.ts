import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type ClientCapabilities,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { decoded } from './parameter-headers.ts';
import { readShort } from './protocol-types.ts';
import { requestRefusal } from '../refusal.ts';
import { STATELESS_VERSION, type OfferedVersions } from './versions.ts';

/**
 * What a 2026-07-28 request says about itself, in its body (`_meta`) and again in header fields. A
 * proxy may already have decided by the header fields, so a request in which the two differ is
 * refused.
 */
export interface RequestMetadata {
  /**
   * What the client can do for this request. It says nothing about other requests (MCP 2026-07-28,
   * Statelessness).
   */
  readonly capabilities: ClientCapabilities;
}

/** A request without it has the version before it was introduced. */
export const VERSION_HEADER = 'mcp-protocol-version';
const METHOD_HEADER = 'mcp-method';
const NAME_HEADER = 'mcp-name';

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_CLIENT = 'io.modelcontextprotocol/clientInfo';

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

type Read =
  { readonly metadata: RequestMetadata | null } | { readonly refusal: Response; readonly metadata?: never };

/** A message of a version with `initialize`. It is answered as if 2026-07-28 were not offered. */
const OLDER: Read = { metadata: null };

/** Reads one body. Only called when 2026-07-28 is offered. */
export function readMetadata(body: unknown, headers: Headers, versions: OfferedVersions): Read {
  const version = headers.get(VERSION_HEADER);
  if (Array.isArray(body)) {
    // A proxy may take a batch for requests of a version without these fields.
    if (!body.some(claimsVersion) && versions.initialized.length > 0) return OLDER;
    return refused(400, body, INVALID_REQUEST, 'A batch cannot have requests of 2026-07-28.');
  }
  if (!claimsVersion(body) && !isNew(version)) {
    return versions.initialized.length > 0
      ? OLDER
      : unsupported(body, version ?? askedVersion(body), versions);
  }
  if (isJSONRPCNotification(body)) return readNotification(body, version, versions);
  if (!isJSONRPCRequest(body)) {
    return refused(400, body, INVALID_REQUEST, 'The body is not a JSON-RPC 2.0 request.');
  }
  return readRequest(body, headers, versions);
}

/**
 * This version has no notifications over HTTP, and defines no header field for them except the
 * version.
 */
function readNotification(body: unknown, header: string | null, versions: OfferedVersions): Read {
  const claimed = readMeta(body)?.[META_VERSION] ?? header;
  if (header !== null && header !== claimed) return mismatch(body, 'MCP-Protocol-Version');
  return claimed === STATELESS_VERSION
    ? { metadata: { capabilities: {} } }
    : unsupported(body, claimed, versions);
}

function readRequest(request: JSONRPCRequest, headers: Headers, versions: OfferedVersions): Read {
  const meta = readMeta(request) ?? {};
  const claimed = meta[META_VERSION];
  if (request.method === 'initialize' && claimed === undefined)
    return mismatch(request, 'MCP-Protocol-Version');
  if (typeof claimed !== 'string') return lacks(request, META_VERSION);
  if (headers.get(VERSION_HEADER) !== claimed) return mismatch(request, 'MCP-Protocol-Version');
  if (claimed !== STATELESS_VERSION) return unsupported(request, claimed, versions);
  const capabilities = readShort('ClientCapabilities', meta[META_CAPABILITIES]);
  if (capabilities === null) return lacks(request, META_CAPABILITIES);
  const client = meta[META_CLIENT];
  if (client !== undefined && readShort('Implementation', client) === null)
    return lacks(request, META_CLIENT);
  if (headers.get(METHOD_HEADER) !== request.method) return mismatch(request, 'Mcp-Method');
  const name = namedBy(request);
  if (name !== null && decoded(headers.get(NAME_HEADER)) !== name) return mismatch(request, 'Mcp-Name');
  return { metadata: { capabilities } };
}

/** What `Mcp-Name` must repeat. Null for a request without it, which its method refuses. */
function namedBy({ method, params }: JSONRPCRequest): string | null {
  const name = method === 'tools/call' || method === 'prompts/get' ? params?.['name'] : null;
  const found = method === 'resources/read' ? params?.['uri'] : name;
  return typeof found === 'string' ? found : null;
}

function readMeta(message: unknown): Readonly<Record<string, unknown>> | undefined {
  const params = isObject(message) ? message['params'] : undefined;
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}

function claimsVersion(message: unknown): boolean {
  return Object.hasOwn(readMeta(message) ?? {}, META_VERSION);
}

/**
 * Whether a header names a version without `initialize`. Older unknown versions are refused
 * elsewhere, as before.
 */
function isNew(version: string | null): boolean {
  return version !== null && /^\d{4}-\d\d-\d\d$/.test(version) && version >= STATELESS_VERSION;
}

function askedVersion(message: unknown): unknown {
  const params = isObject(message) ? message['params'] : undefined;
  return isObject(params) ? params['protocolVersion'] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(status: number, message: unknown, code: number, text: string, data?: unknown): Read {
  return { refusal: requestRefusal(status, message, { code, message: text, data }) };
}

function lacks(message: unknown, key: string): Read {
  return refused(400, message, INVALID_PARAMS, `The request has no _meta as in ${STATELESS_VERSION}: ${key}`);
}

function mismatch(message: unknown, header: string): Read {
  return { refusal: mismatchRefusal(message, header) };
}

/** The refusal of a request whose header field is missing or differs from its body. */
export function mismatchRefusal(message: unknown, header: string): Response {
  const text = `The header ${header} is not what the body says, or is missing.`;
  return requestRefusal(400, message, { code: HEADER_MISMATCH, message: text });
}

/** Repeats the version only if it looks like one, because anyone may have sent it. */
function unsupported(message: unknown, requested: unknown, { all }: OfferedVersions): Read {
  const known = typeof requested === 'string' && /^[\w.-]{1,32}$/.test(requested) ? requested : 'unknown';
  const data = { supported: all, requested: known };
  const text = `Unsupported protocol version (supported versions: ${all.join(', ')})`;
  return refused(400, message, UNSUPPORTED_VERSION, text, data);
}
