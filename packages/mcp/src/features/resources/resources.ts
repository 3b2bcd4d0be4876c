import { readGuard } from '../../tools/guard.ts';
import type { Guarded } from '../../tools/tool-access.ts';
import type { TraceContext } from '../../tools/trace.ts';

/** What `read` receives. */
export interface ResourceRead {
  /**
   * Aborted when reading takes longer than `mcp:tool_timeout`, when the caller hangs up, and when
   * it cancels the request, as for a tool.
   */
  readonly signal: AbortSignal;
  /** The request's place in a distributed trace. Null when the client sent none. */
  readonly trace: TraceContext | null;
}

/**
 * A text or file that clients can read, such as one that a tool's result links to. By default it is
 * public: any application with a token for this server may read it.
 */
export interface ResourceInterface {
  /**
   * Unique: an absolute URI of at most 2048 characters (RFC 3986), such as `app://guide`. Clients
   * read it by exactly this text.
   */
  uri(): string;
  /** A short name. */
  name(): string;
  /** What it contains, for the model. */
  description?(): string;
  /** The display name. */
  title?(): string;
  /** The media type, such as `text/markdown`. */
  mimeType?(): string;
  /**
   * Returns the content: a string is sent as text, bytes as base64, at most 1 MiB. Exceptions go to
   * the log, and the caller learns only that the resource cannot be read.
   */
  read(request: ResourceRead): string | Uint8Array | Promise<string | Uint8Array>;
}

/**
 * A personal resource. Its content is that of the account that the caller has linked, which
 * `token().user()` returns. A request without an account is answered 401. It needs the first scope
 * of `mcp:oauth:scopes_supported`, unless it is a ScopedResourceInterface.
 */
export interface UserResourceInterface extends ResourceInterface {
  /** Makes the resource personal. */
  readonly personal: true;
}

/**
 * A personal resource that needs a separate scope. A token or account without the scope is answered
 * 403.
 */
export interface ScopedResourceInterface extends UserResourceInterface {
  /** One of `oauth_server:scopes`. */
  scope(): string;
}

/** A registered resource: its description, read once. */
export interface RegisteredResource extends Guarded {
  /** As the resource returned it. */
  readonly uri: string;
  /** As the resource returned it. */
  readonly name: string;
  /** As the resource returned it, or null. */
  readonly description: string | null;
  /** As the resource returned it, or null. */
  readonly title: string | null;
  /** As the resource returned it, or null. */
  readonly mimeType: string | null;
  /** The resource itself. */
  readonly resource: ResourceInterface;
}

/** The resources of one endpoint, in the order of their registration. */
export class ResourceRegistry {
  readonly #resources = new Map<string, RegisteredResource>();

  /**
   * Adds a resource. Throws if its URI is taken or ill-formed, a description is not a string,
   * `scope` is not a method, or `personal` must be true or false.
   */
  register(resource: ResourceInterface): void {
    const registered = readResource(resource);
    const { uri } = registered;
    if (this.#resources.has(uri)) throw new Error(`Two resources have the URI ${uri}`);
    this.#resources.set(uri, registered);
  }

  /** The resource with exactly this URI, or null. */
  find(uri: string): RegisteredResource | null {
    return this.#resources.get(uri) ?? null;
  }

  /** All registered resources. */
  all(): readonly RegisteredResource[] {
    return [...this.#resources.values()];
  }
}

/** The characters of a URI (RFC 3986 section 2), after a scheme. */
const URI = /^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;
const LONGEST_URI = 2048;
/** RFC 6838 section 4.2, with parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; ?[\w-]+=[\w!#$&^.+"-]+)*$/;

/** Reads a resource's description. Throws for invalid values. */
function readResource(resource: ResourceInterface): RegisteredResource {
  const uri: unknown = resource.uri();
  if (typeof uri !== 'string' || uri.length > LONGEST_URI || !URI.test(uri)) {
    throw new Error(`The uri() of a resource is not an absolute URI: ${JSON.stringify(uri)}`);
  }
  // What is there, but cannot be a scope, must not make the resource public.
  if ('scope' in resource && typeof resource.scope !== 'function') {
    throw new Error(`The scope of the resource ${uri} must be a method that returns it`);
  }
  const mimeType = readText(uri, 'mimeType', resource);
  if (mimeType !== null && !MEDIA_TYPE.test(mimeType)) {
    throw new Error(`The mimeType() of the resource ${uri} is not a media type`);
  }
  const name = readText(uri, 'name', resource);
  if (name === null) throw new Error(`The resource ${uri} has no name()`);
  return {
    uri,
    name,
    description: readText(uri, 'description', resource),
    title: readText(uri, 'title', resource),
    mimeType,
    ...readGuard('resource', uri, resource),
    resource,
  };
}

/** The text of a member, or null without the member. */
function readText(
  uri: string,
  member: 'name' | 'description' | 'title' | 'mimeType',
  resource: ResourceInterface,
): string | null {
  if (typeof resource[member] !== 'function') return null;
  const text: unknown = resource[member]();
  if (typeof text === 'string' && text !== '') return text;
  throw new Error(`The ${member}() of the resource ${uri} is not a string`);
}
