import type { ScopedToolInterface } from '@portico/mcp';
import { token } from 'portico';

/** A personal tool. It acts for the account that the person has linked. */
export class MyAccount implements ScopedToolInterface {
  readonly personal = true;

  name(): string {
    return 'my_account';
  }

  description(): string {
    return 'Says under which name and address the person is known here.';
  }

  scope(): string {
    return 'mcp:tools';
  }

  inputSchema() {
    return { type: 'object', properties: {}, additionalProperties: false };
  }

  handle() {
    // The linked account is loaded for this call. A browser's session is never used.
    const { name, email } = token().user()?.getProfile() ?? {};
    return { name: name ?? null, email: email ?? null };
  }
}
