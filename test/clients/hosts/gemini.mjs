import { MCPOAuthProvider, MCPServerConfig, connectToMcpServer } from '@google/gemini-cli-core';

/**
 * Does the same as Gemini CLI for `/mcp auth kitchen`, and then calls a tool. Gemini CLI asks on
 * standard input whether it may open a browser.
 */

const [address, tool] = process.argv.slice(2);
const token = await new MCPOAuthProvider().authenticate('kitchen', { enabled: true }, address);
const server = new MCPServerConfig(undefined, undefined, undefined, undefined, undefined, address);
const workspace = { getDirectories: () => [], onDirectoriesChanged: () => () => {} };
const config = { sanitizationConfig: {}, getMcpClientManager: () => undefined };
const client = await connectToMcpServer('0.61.0', 'kitchen', server, false, workspace, config);
const { tools } = await client.listTools();
const answer = await client.callTool({ name: tool, arguments: {} });
await client.close();
const said = { scope: token.scope, tools: tools.map(({ name }) => name), answer };
process.stdout.write(`\nRESULT ${JSON.stringify(said)}\n`, () => process.exit(0));
