import { AsyncLocalStorage } from 'node:async_hooks';
import { MCP_PATH } from './context.ts';
import type { McpServer } from './mcp-endpoint.ts';

/** The MCP endpoints of an application, keyed by path. */
type Endpoints = ReadonlyMap<string, McpServer>;

const registering = new AsyncLocalStorage<Endpoints>();

/** Runs the application's `register`. While it runs, `getEndpoint` returns these endpoints. */
export function registerAt<Value>(endpoints: Endpoints, register: () => Value): Value {
  return registering.run(endpoints, register);
}

/**
 * Returns an endpoint of the application that is starting. Throws if no application is starting, or
 * if there is no endpoint at this path. For the error message, `call` is the name of the called
 * function, and `things` is what this function registers.
 */
export function getEndpoint(call: string, things: string, path = MCP_PATH): McpServer {
  const endpoints = registering.getStore();
  if (endpoints === undefined) {
    throw new Error(
      `${call}() works only in register() of an application with the plugin mcp(). ` +
        `Register ${things} there.`,
    );
  }
  const found = endpoints.get(path);
  if (found !== undefined) return found;
  const known = [...endpoints.keys()].join(', ');
  throw new Error(`${call}('${path}'): no MCP endpoint has this path. The endpoints are ${known}`);
}
