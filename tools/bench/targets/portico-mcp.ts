// Portico with an MCP endpoint and all other defaults. doors.ts compares `portico-doors` with it.
import { run } from './mcp-application.ts';

await run();
