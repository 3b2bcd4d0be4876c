import { isNativeError } from 'node:util/types';

/**
 * Returns whether a value is an error. In Jest, the errors of Node's modules belong to another
 * realm than the `Error` of the application.
 */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || isNativeError(value);
