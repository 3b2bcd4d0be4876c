import type { ToolInterface } from '@portico/mcp';

/**
 * A public tool. An assistant may call it with its service token, even if no person is signed in.
 */
export class ServiceStatus implements ToolInterface {
  name(): string {
    return 'service_status';
  }

  description(): string {
    return 'Says whether the service is available.';
  }

  inputSchema() {
    return { type: 'object', properties: {}, additionalProperties: false };
  }

  handle() {
    return { status: 'available' };
  }
}
