import { readGuard } from '../../tools/guard.ts';
import type { Guarded } from '../../tools/tool-access.ts';
import type { TraceContext } from '../../tools/trace.ts';

/** The argument for `read`. */
export interface ResourceRead {
  /**
   * A signal that is aborted in these cases: the read takes longer than `mcp:tool_timeout`, the
   * caller disconnects, or the caller cancels the request. See `ToolCall.signal`.
   */
  readonly signal: AbortSignal;
  /** The distributed trace that the request belongs to. Null if the client sent no trace. */
  readonly trace: TraceContext | null;
}

/**
 * A text or file that clients can read, for example through a link in a tool's result. By default,
 * a resource is public: any application with a token for this endpoint can read it.
 */
export interface ResourceInterface {
  /**
   * A unique, absolute URI of at most 2048 characters (RFC 3986), such as `app://guide`. To read
   * the resource, clients must send exactly this text.
   */
  uri(): string;
  /** A short name for the resource. */
  name(): string;
  /** Describes the content for the model. */
  description?(): string;
  /** The name that clients display. */
  title?(): string;
  /** The media type, such as `text/markdown`. */
  mimeType?(): string;
  /**
   * Returns the content, at most 1 MiB. Portico sends a string as text, and bytes as base64. If
   * this method throws, Portico logs the exception, and the caller learns only that the resource
   * cannot be read.
   */
  read(request: ResourceRead): string | Uint8Array | Promise<string | Uint8Array>;
}

/**
 * A personal resource. Its content belongs to the caller's linked account, which `token().user()`
 * returns. A request without a linked account gets 401. The token needs the first scope of
 * `mcp:oauth:scopes_supported`, unless the resource is a ScopedResourceInterface.
 */
export interface UserResourceInterface extends ResourceInterface {
  /** Makes the resource personal. */
  readonly personal: true;
}

/**
 * A personal resource with its own scope. The request gets 403 if the token does not have the
 * scope, or the account does not have the scope's permission.
 */
export interface ScopedResourceInterface extends UserResourceInterface {
  /** The resource's scope, which must be in `oauth_server:scopes`. */
  scope(): string;
}

/** A registered resource. Portico reads its description once, when you register it. */
export interface RegisteredResource extends Guarded {
  /** The return value of the resource's `uri()`. */
  readonly uri: string;
  /** The return value of the resource's `name()`. */
  readonly name: string;
  /** The return value of the resource's `description()`. Null if it has no `description()`. */
  readonly description: string | null;
  /** The return value of the resource's `title()`. Null if the resource has no `title()`. */
  readonly title: string | null;
  /** The return value of the resource's `mimeType()`. Null if the resource has no `mimeType()`. */
  readonly mimeType: string | null;
  /** The resource itself. */
  readonly resource: ResourceInterface;
}

/** The resources of one endpoint, in the order of registration. */
export class ResourceRegistry {
  readonly #resources = new Map<string, RegisteredResource>();

  /**
   * Adds a resource. Throws if another resource has the same URI, if the URI is malformed, if a
   * part of the description is not a string, if `scope` is not a method, or if `personal` is not a
   * boolean.
   */
  register(resource: ResourceInterface): void {
    const registered = readResource(resource);
    const { uri } = registered;
    if (this.#resources.has(uri)) throw new Error(`Two resources have the URI ${uri}`);
    this.#resources.set(uri, registered);
  }

  /** Returns the resource with exactly this URI, or null. */
  find(uri: string): RegisteredResource | null {
    return this.#resources.get(uri) ?? null;
  }

  /** Returns all registered resources. */
  all(): readonly RegisteredResource[] {
    return [...this.#resources.values()];
  }
}

/** Matches a scheme, followed only by characters that a URI may contain (RFC 3986 section 2). */
const URI = /^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;
const LONGEST_URI = 2048;
/** Matches a media type (RFC 6838 section 4.2), with or without parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; ?[\w-]+=[\w!#$&^.+"-]+)*$/;

/** Reads a resource's description. Throws for invalid values. */
function readResource(resource: ResourceInterface): RegisteredResource {
  const uri: unknown = resource.uri();
  if (typeof uri !== 'string' || uri.length > LONGEST_URI || !URI.test(uri)) {
    throw new Error(
      `The uri() of a resource must return an absolute URI, not ${JSON.stringify(uri)}`,
    );
  }
  // An invalid `scope` must not make the resource public.
  if ('scope' in resource && typeof resource.scope !== 'function') {
    throw new Error(
      `The scope of the resource ${uri} must be a method that returns the name of a scope`,
    );
  }
  const mimeType = readText(uri, 'mimeType', resource);
  if (mimeType !== null && !MEDIA_TYPE.test(mimeType)) {
    throw new Error(`The mimeType() of the resource ${uri} must return a media type`);
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

/** Returns the text of a member, or null if the resource does not have the member. */
function readText(
  uri: string,
  member: 'name' | 'description' | 'title' | 'mimeType',
  resource: ResourceInterface,
): string | null {
  if (typeof resource[member] !== 'function') return null;
  const text: unknown = resource[member]();
  if (typeof text === 'string' && text !== '') return text;
  throw new Error(`The ${member}() of the resource ${uri} must return a string that is not empty`);
}
