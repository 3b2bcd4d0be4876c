import { ProtocolErrorCode, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { token } from 'portico';
import type { McpContext } from '../../context.ts';
import type { MethodAnswer } from '../../feature.ts';
import { cachedFor } from '../../protocol/caching.ts';
import { REACHED, startTimeLimit, tooLong } from '../../tools/time-limit.ts';
import type { Caller } from '../../tools/tool-call.ts';
import { readTrace } from '../../tools/trace.ts';
import type { RegisteredResource } from './resources.ts';

type Params = JSONRPCRequest['params'];

/**
 * The maximum size of a resource's content, in bytes. A string is measured as UTF-8, and binary
 * content before base64 encoding.
 */
const LARGEST = 1024 * 1024;

/** Reads resources within the time limit. */
export class ResourceReads {
  readonly #context: McpContext;

  constructor(context: McpContext) {
    this.#context = context;
  }

  /**
   * Returns the content, or an error. If `read()` fails, the error does not say why. Never rejects.
   * With `mcp:audit`, emits an audit event for each read, including failed ones.
   */
  async read(resource: RegisteredResource, params: Params, caller: Caller): Promise<MethodAnswer> {
    const { config, server } = this.#context;
    if (!config.audit) return this.#run(resource, params, caller);
    const began = performance.now();
    const answer = await this.#run(resource, params, caller);
    await server.audit({
      type: 'resource_read',
      resource: resource.uri,
      clientId: token().clientId() ?? '',
      person: token().user()?.reference ?? null,
      outcome: 'error' in answer ? 'failed' : 'succeeded',
      duration: Math.round(performance.now() - began),
    });
    return answer;
  }

  async #run(
    registered: RegisteredResource,
    params: Params,
    caller: Caller,
  ): Promise<MethodAnswer> {
    const { log, config } = this.#context;
    const { uri, resource } = registered;
    const limit = startTimeLimit(config.tool_timeout, caller.signal);
    try {
      const { signal } = limit;
      const trace = readTrace(params?.['_meta']);
      const content = await Promise.race([resource.read({ signal, trace }), limit.reached]);
      if (content !== REACHED) return answerWith(registered, content, caller);
      if (caller.signal.aborted) return failure('The request was cancelled.');
      const took = tooLong(config.tool_timeout);
      log.error('Reading the resource {resource} {took} (mcp:tool_timeout)', {
        resource: uri,
        took,
      });
    } catch (exception) {
      log.error('The resource {resource} failed: {exception}', { resource: uri, exception });
    } finally {
      limit.end();
    }
    return failure('The resource cannot be read.');
  }
}

function failure(message: string): MethodAnswer {
  return { error: { code: ProtocolErrorCode.InternalError, message } };
}

/**
 * Returns the content. Returns an error instead if the content does not fit into the responses to
 * the batch. Throws if the content is larger than `LARGEST`, or is neither a string nor bytes.
 */
function answerWith(
  registered: RegisteredResource,
  content: unknown,
  { version, room }: Caller,
): MethodAnswer {
  const size = sizeOf(content);
  if (size > LARGEST) throw new RangeError(`read() returned more than ${LARGEST} bytes`);
  if (!room.take(size)) return failure(NO_ROOM);
  return { result: contents(registered, content as string | Uint8Array, version) };
}

const NO_ROOM = 'The resources of this batch are too large together; read this one by itself.';

/**
 * Returns the size of the content in bytes. Throws if the content is neither a string nor bytes.
 */
function sizeOf(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  if (content instanceof Uint8Array) return content.byteLength;
  throw new TypeError('read() returned neither a string nor a Uint8Array');
}

/** Returns the result of a `resources/read` request. */
function contents(
  { uri, mimeType }: RegisteredResource,
  content: string | Uint8Array,
  version: string,
): Readonly<Record<string, unknown>> {
  const described = { uri, ...(mimeType === null ? {} : { mimeType }) };
  const sent =
    typeof content === 'string'
      ? { text: content }
      : { blob: Buffer.from(content).toString('base64') };
  // Clients must not cache the content, because it can change between requests.
  return { contents: [{ ...described, ...sent }], ...cachedFor(version, 0) };
}
