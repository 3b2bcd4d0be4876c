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
 * The metadata of a 2026-07-28 request, from `_meta` in its body. Headers repeat the version, the
 * method and the name of the tool or resource. The server rejects the request if they differ from
 * the body, because a proxy may have used the headers to make decisions.
 */
export interface RequestMetadata {
  /** The client's capabilities. They apply only to this request (MCP 2026-07-28, Statelessness). */
  readonly capabilities: ClientCapabilities;
}

/**
 * The header that contains the protocol version. A request without it uses the last version in
 * which the header was optional.
 */
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
  | { readonly metadata: RequestMetadata | null }
  | { readonly refusal: Response; readonly metadata?: never };

/** The result for a message of an earlier protocol version, which has no request metadata. */
const OLDER: Read = { metadata: null };

/** Reads the metadata of a request. Call this function only if the endpoint supports 2026-07-28. */
export function readMetadata(body: unknown, headers: Headers, versions: OfferedVersions): Read {
  const version = headers.get(VERSION_HEADER);
  if (Array.isArray(body)) {
    // Reject a batch if any of its messages names the new version. A proxy might treat such a batch
    // as requests of an older version, which do not have these headers.
    if (!body.some(claimsVersion) && versions.initialized.length > 0) return OLDER;
    return refused(
      400,
      body,
      INVALID_REQUEST,
      'Requests of protocol version 2026-07-28 cannot be sent in a batch.',
    );
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
 * Reads a notification. Checks only the version header, because version 2026-07-28 defines no
 * notifications over HTTP.
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
  const header = headers.get(VERSION_HEADER);
  if (claimed === undefined && header !== STATELESS_VERSION)
    return unsupported(request, header, versions);
  if (request.method === 'initialize' && claimed === undefined)
    return mismatch(request, 'MCP-Protocol-Version');
  if (typeof claimed !== 'string') return lacks(request, META_VERSION);
  if (header !== claimed) return mismatch(request, 'MCP-Protocol-Version');
  if (claimed !== STATELESS_VERSION) return unsupported(request, claimed, versions);
  const capabilities = readShort('ClientCapabilities', meta[META_CAPABILITIES]);
  if (capabilities === null) return lacks(request, META_CAPABILITIES);
  const client = meta[META_CLIENT];
  if (client !== undefined && readShort('Implementation', client) === null)
    return lacks(request, META_CLIENT);
  if (headers.get(METHOD_HEADER) !== request.method) return mismatch(request, 'Mcp-Method');
  const name = namedBy(request);
  if (name !== null && decoded(headers.get(NAME_HEADER)) !== name)
    return mismatch(request, 'Mcp-Name');
  return { metadata: { capabilities } };
}

/**
 * Returns the name that the header `Mcp-Name` must repeat. Returns null if the request has no name.
 * If its method needs a name, the request is rejected later.
 */
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
 * Whether a header names a version without `initialize`. Unknown older versions are rejected
 * elsewhere.
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

function refused(
  status: number,
  message: unknown,
  code: number,
  text: string,
  data?: unknown,
): Read {
  return { refusal: requestRefusal(status, message, { code, message: text, data }) };
}

function lacks(message: unknown, key: string): Read {
  return refused(
    400,
    message,
    INVALID_PARAMS,
    `The request has no _meta as in ${STATELESS_VERSION}: ${key}`,
  );
}

function mismatch(message: unknown, header: string): Read {
  return { refusal: mismatchRefusal(message, header) };
}

/**
 * Creates the error response for a request with a missing header, or with a header that does not
 * match the body.
 */
export function mismatchRefusal(message: unknown, header: string): Response {
  const text = `The header ${header} is missing or does not match the request body.`;
  return requestRefusal(400, message, { code: HEADER_MISMATCH, message: text });
}

/**
 * Creates the error response for an unsupported version. Repeats the requested version only if it
 * looks like a version, because it comes from an untrusted sender.
 */
function unsupported(message: unknown, requested: unknown, { all }: OfferedVersions): Read {
  const known =
    typeof requested === 'string' && /^[\w.-]{1,32}$/.test(requested) ? requested : 'unknown';
  const data = { supported: all, requested: known };
  const text = `Unsupported protocol version (supported versions: ${all.join(', ')})`;
  return refused(400, message, UNSUPPORTED_VERSION, text, data);
}
