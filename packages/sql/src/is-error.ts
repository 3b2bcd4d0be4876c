import { isNativeError } from 'node:util/types';

/**
 * Returns whether a value is an error. `instanceof` alone is not enough. In Jest, the errors of
 * Node's modules belong to another realm than the application's `Error`.
 */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || isNativeError(value);
