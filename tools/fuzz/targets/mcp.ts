import { decoded } from '../../../packages/mcp/src/protocol/parameter-headers.ts';
import { DEEPEST, isTooDeep } from '../../../packages/mcp/src/protocol/nesting.ts';
import { ORIGIN, startFuzzed } from '../support/application.ts';
import { hold, type Target } from '../target.ts';

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const STATELESS = 'MCP-Protocol-Version: 2026-07-28\nMcp-Method: ';

/** Returns how deep arrays and objects are nested. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const each of Object.values(value)) deepest = Math.max(deepest, depthOf(each));
  return deepest + 1;
}

/** The input contains headers, an empty line, and the body. */
export const target: Target = {
  about: 'JSON-RPC bodies and header fields of the MCP endpoint, with a token that is good',
  slowest: 1000,
  seeds: [
    '\n{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{}}}',
    'MCP-Protocol-Version: 2025-11-25\n\n{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"text":"b"}}}',
    '\n[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/initialized"}]',
    `${STATELESS}tools/call\nMcp-Name: echo\nMcp-Param-Text: b\nMcp-Param-Count: 42.0\n\n{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{${META},"name":"echo","arguments":{"text":"b","count":42}}}`,
    `${STATELESS}tools/call\nMcp-Name: =?base64?ZWNobw==?=\nMcp-Param-Text: =?base64?w6k=?=\n\n{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{${META},"name":"echo","arguments":{"text":"\u00E9"}}}`,
    `${STATELESS}tools/list\n\n{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{${META}}}`,
    `${STATELESS}server/discover\n\n{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{${META}}}`,
    `\n{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(99)}1${'}'.repeat(99)}}`,
    'Accept: text/event-stream;q=0\nContent-Type: text/plain\n\n{}',
    'Authorization: Bearer x\n\n{}',
  ],
  dictionary: [
    'jsonrpc',
    '2.0',
    'id',
    'method',
    'params',
    'result',
    'error',
    'initialize',
    'ping',
    'tools/list',
    'tools/call',
    'server/discover',
    'notifications/cancelled',
    'name',
    'echo',
    'arguments',
    'text',
    'count',
    'protocolVersion',
    'clientInfo',
    'capabilities',
    'inputResponses',
    'requestState',
    '_meta',
    'progressToken',
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
    '2026-07-28',
    '2025-03-26',
    'MCP-Protocol-Version: ',
    'Mcp-Method: ',
    'Mcp-Name: ',
    'Mcp-Param-Text: ',
    'Mcp-Param-Count: ',
    '=?base64?',
    '?=',
    'Accept: ',
    'Content-Type: ',
    'Origin: ',
    'Authorization: ',
    'DPoP: ',
    '\n\n',
    '[',
    ']',
    '{"a":',
  ],
  async start() {
    const { application, token, tick } = await startFuzzed();
    const url = `${ORIGIN}/auth/mcp`;
    return async (input) => {
      tick();
      const at = input.indexOf('\n\n');
      const isBare = input[0] === 0x0a;
      const head = isBare || at < 0 ? '' : input.toString('latin1', 0, at);
      const body = new Uint8Array(input.subarray(isBare ? 1 : at < 0 ? 0 : at + 2));
      const headers = new Headers({
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      });
      for (const line of head.split('\n')) {
        const [name = '', ...value] = line.split(':');
        try {
          headers.set(name, value.join(':').trim());
        } catch {
          // A server never receives such a header.
        }
      }
      const field = headers.get('mcp-name');
      const meant = decoded(field);
      if (meant !== null && meant !== field)
        hold(
          Buffer.from(meant).equals(Buffer.from(field?.slice(9, -2) ?? '', 'base64')),
          'a header field means something else',
        );

      let sent: unknown;
      try {
        sent = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
      } catch {
        sent = undefined;
      }
      if (sent !== undefined)
        hold(isTooDeep(body) === depthOf(sent) > DEEPEST, 'the depth is another one');

      const response = await application.fetch(
        new Request(url, { method: 'POST', headers, body }),
        {
          address: '127.0.0.1',
          target: '/auth/mcp',
        },
      );
      const text = await response.text();
      hold(response.status < 500 || response.status === 499, `it was answered ${response.status}`);
      if (text === '') return;
      if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return;
      const answered = JSON.parse(text) as unknown;
      const answers: unknown[] = Array.isArray(answered) ? answered : [answered];
      const messages: unknown[] = Array.isArray(sent) ? sent : [sent];
      hold(answers.length <= Math.max(1, messages.length), 'there are more answers than requests');
      const ids = messages.map((each) =>
        typeof each === 'object' && each !== null ? (each as { id?: unknown }).id : undefined,
      );
      for (const each of answers) {
        const { jsonrpc, id, result, error } = each as Record<string, unknown>;
        if (jsonrpc === undefined) continue;
        hold(
          jsonrpc === '2.0' && (result === undefined) !== (error === undefined),
          'an answer is none of JSON-RPC',
        );
        hold(
          id === null || id === undefined || ids.some((own) => isAnswered(own, id)),
          'an answer is to nothing that was asked',
        );
        if (result !== undefined)
          hold(
            sent !== undefined && depthOf(sent) <= DEEPEST,
            'a body was answered that should not be',
          );
      }
    };
  },
};

/**
 * Whether the response has this id. If the id contains half of a surrogate pair, the response
 * contains U+FFFD, as in all JSON that Portico writes.
 */
function isAnswered(own: unknown, id: unknown): boolean {
  const written = typeof own === 'string' ? own.toWellFormed() : own;
  return JSON.stringify(written) === JSON.stringify(id);
}
