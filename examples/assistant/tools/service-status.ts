import type { ToolInterface } from '@portico/mcp';

/** A public tool: an assistant may call it with its service token, without a person. */
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
