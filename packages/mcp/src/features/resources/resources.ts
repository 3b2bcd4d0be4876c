import { readGuard } from '../../tools/guard.ts';
import type { Guarded } from '../../tools/tool-access.ts';
import type { TraceContext } from '../../tools/trace.ts';

/** The argument of a resource's `read` method. */
export interface ResourceRead {
  /**
   * A signal that is aborted if the read takes longer than `mcp:tool_timeout`, if the caller
   * disconnects, or if the caller cancels the request. See `ToolCall.signal`.
   */
  readonly signal: AbortSignal;
  /** The distributed trace that the client sent with the request, or null if it sent none. */
  readonly trace: TraceContext | null;
}

/**
 * A text or file that clients can read, for example through a link in the result of a tool. By
 * default, a resource is public: every application with a token for this endpoint can read it.
 */
export interface ResourceInterface {
  /**
   * Returns the unique, absolute URI of the resource (RFC 3986), such as `app://guide`. It has at
   * most 2048 characters. Clients must send exactly this text to read the resource.
   */
  uri(): string;
  /** Returns a short name for the resource. */
  name(): string;
  /** Returns a description of the content for the model. */
  description?(): string;
  /** Returns the name that clients display. */
  title?(): string;
  /** Returns the media type of the content, such as `text/markdown`. */
  mimeType?(): string;
  /**
   * Returns the content, which must not be larger than 1 MiB. Portico sends a string as text, and
   * bytes as base64. If this method throws, Portico logs the exception and tells the caller only
   * that the resource cannot be read.
   */
  read(request: ResourceRead): string | Uint8Array | Promise<string | Uint8Array>;
}

/**
 * A personal resource, whose content is for the user who linked their account. `token().user()`
 * returns this user. A request without a linked account gets 401. The token needs the first scope
 * of `mcp:oauth:scopes_supported`, unless the resource is a ScopedResourceInterface.
 */
export interface UserResourceInterface extends ResourceInterface {
  /** Marks the resource as personal. */
  readonly personal: true;
}

/**
 * A personal resource with its own scope. A request gets 403 if the token lacks this scope, or if
 * the user lacks the permission for this scope.
 */
export interface ScopedResourceInterface extends UserResourceInterface {
  /** Returns the scope of the resource, which must be in `oauth_server:scopes`. */
  scope(): string;
}

/** A registered resource. Portico reads the description only once, during registration. */
export interface RegisteredResource extends Guarded {
  /** The value that the resource's `uri()` returned. */
  readonly uri: string;
  /** The value that the resource's `name()` returned. */
  readonly name: string;
  /** The value that the resource's `description()` returned, or null without `description()`. */
  readonly description: string | null;
  /** The value that the resource's `title()` returned, or null without `title()`. */
  readonly title: string | null;
  /** The value that the resource's `mimeType()` returned, or null without `mimeType()`. */
  readonly mimeType: string | null;
  /** The resource that was registered. */
  readonly resource: ResourceInterface;
}

/** The resources of one endpoint, in the order in which they were registered. */
export class ResourceRegistry {
  readonly #resources = new Map<string, RegisteredResource>();

  /**
   * Registers a resource. Throws if its URI is malformed or already registered, or if a part of its
   * description is not a string. Also throws if `scope` is not a method, or `personal` is not a
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

  /** Returns all resources, in the order in which they were registered. */
  all(): readonly RegisteredResource[] {
    return [...this.#resources.values()];
  }
}

/** Matches a URI scheme and the characters that may follow it in a URI (RFC 3986 section 2). */
const URI = /^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i;
const LONGEST_URI = 2048;
/** Matches a media type (RFC 6838 section 4.2), with or without parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; ?[\w-]+=[\w!#$&^.+"-]+)*$/;

/** Reads and checks the description of a resource. Throws if a value is invalid. */
function readResource(resource: ResourceInterface): RegisteredResource {
  const uri: unknown = resource.uri();
  if (typeof uri !== 'string' || uri.length > LONGEST_URI || !URI.test(uri)) {
    throw new Error(
      `The uri() of a resource must return an absolute URI, not ${JSON.stringify(uri)}`,
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

/**
 * Returns the text that a member of the resource returns, or null if the resource has no such
 * member.
 */
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
