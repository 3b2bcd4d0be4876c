import { AsyncLocalStorage } from 'node:async_hooks';
import type { McpServer } from './mcp-endpoint.ts';

const registering = new AsyncLocalStorage<McpServer>();

/** Runs the application's `register` for an endpoint. */
export function registerAt<Value>(endpoint: McpServer, register: () => Value): Value {
  return registering.run(endpoint, register);
}

/**
 * Returns the endpoint of the application that is starting. Throws at any other time. `call` and
 * `things` are for the message: the called function, and what it registers.
 */
export function getEndpoint(call: string, things: string): McpServer {
  const endpoint = registering.getStore();
  if (endpoint === undefined) {
    throw new Error(
      `${call} was called outside of register(), or the application has no mcp() among its plugins: ` +
        `${things} are registered while the application is put together`,
    );
  }
  return endpoint;
}
