import {
  ProtocolErrorCode,
  type JSONRPCRequest,
  type SpecTypeName,
  type SpecTypes,
} from '@modelcontextprotocol/server';
import { readAs } from './protocol-types.ts';
import type { RpcError } from './rpc-error.ts';

/**
 * Checks a request against this protocol type. Returns the checked request, or the error -32602.
 */
export function readParameters<Name extends SpecTypeName>(
  type: Name,
  request: JSONRPCRequest,
): { readonly checked: SpecTypes[Name] } | { readonly error: RpcError } {
  const checked = readAs(type, request);
  if (checked === null) return invalid(`The parameters are not those of ${request.method}.`);
  // Every list has only one page, so the server never sends a cursor. An empty cursor means the
  // first page.
  const { cursor } = request.method.endsWith('/list') ? (request.params ?? {}) : {};
  return cursor === undefined || cursor === '' ? { checked } : invalid(NO_SUCH_CURSOR);
}

const NO_SUCH_CURSOR = 'Invalid cursor: the list has one page. Ask for it without a cursor.';

function invalid(message: string): { readonly error: RpcError } {
  return { error: { code: ProtocolErrorCode.InvalidParams, message } };
}
