// Portico with the features for clients of other people switched on.
import { run } from './mcp-application.ts';

await run({
  server: {
    registration: 'initial_access_token',
    client_id_metadata_documents: true,
    refresh_retry_seconds: 300,
    challenge: true,
  },
  mcp: { protocol_versions: ['2026-07-28', '2025-11-25'], oauth: { challenge: true } },
});
