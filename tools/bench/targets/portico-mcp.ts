// Portico with an MCP endpoint, everything else at its default: what `portico-doors` is held
// against in doors.ts.
import { run } from './mcp-application.ts';

await run();
