import { type McpConfig, SERVICE_SCOPE } from '@portico/mcp';
import type { AddCommands, ConfigMap, ConfigurationProblem, Environment, Plugin } from 'portico';
import { addAssistantDoctor } from './commands/assistant-doctor.ts';
import { addAssistantSetup } from './commands/assistant-setup.ts';
import {
  assistantConfiguration,
  type AssistantConfig,
  type AssistantConfigInput,
} from './config.ts';

const COMMANDS: readonly AddCommands[] = [addAssistantSetup, addAssistantDoctor];

/**
 * Creates the voice-assistant plugin. Add it after `oauthServer()` and `mcp()`. The variables
 * `PUBLIC_URL`, `ASSISTANT_MCP_RESOURCE` and `ASSISTANT_NAME` set the issuer, the resource with the
 * audience, and the server's name. The application's configuration overrides them. The plugin adds
 * the commands `assistant:setup` and `assistant:doctor`.
 *
 * @example
 * const plugins = [oauthServer(), mcp(), assistant()];
 */
export function assistant(): Plugin<{ assistant: AssistantConfigInput }> {
  return {
    name: 'assistant',
    defaults,
    variables: { ASSISTANT_NAME: 'oauth_server:name', ASSISTANT_MCP_RESOURCE: 'mcp:resource' },
    configuration: { assistant: assistantConfiguration },
    problems,
    migrations: [],
    views: null,
    commands(program, context) {
      for (const add of COMMANDS) add(program, context);
    },
    register() {},
  };
}

/**
 * The maximum length of the server's name, in characters. It leaves room for a suffix, because a
 * client's name may have at most 100 characters.
 */
const LONGEST_NAME = 90;

function defaults(env: Environment): ConfigMap {
  // Treat an empty variable as missing.
  const name = env['ASSISTANT_NAME'] || undefined;
  const resource = env['ASSISTANT_MCP_RESOURCE'] || undefined;
  return {
    public_url: env['PUBLIC_URL'],
    oauth_server: {
      name,
      audience: resource,
      scopes: {
        [SERVICE_SCOPE]: 'Use the tools that need no account',
        'mcp:tools': 'Use your tools for you',
      },
    },
    mcp: { name, resource },
    assistant: {},
  };
}

function problems(config: ConfigMap): readonly ConfigurationProblem[] {
  const {
    account_linking: linking,
    redirect_uris: uris,
    user_scopes: scopes,
  } = config['assistant'] as AssistantConfig;
  const { resource, oauth } = config['mcp'] as McpConfig;
  const { name } = config['oauth_server'] as { readonly name: string };
  const found: ConfigurationProblem[] = [];
  if (name.length > LONGEST_NAME) {
    found.push({
      key: 'oauth_server:name',
      message:
        `has more than ${LONGEST_NAME} characters; choose a shorter name (ASSISTANT_NAME or ` +
        'oauth_server:name)',
    });
  }
  if (resource === undefined) {
    found.push({
      key: 'mcp:resource',
      message: 'is missing; set ASSISTANT_MCP_RESOURCE to PUBLIC_URL plus /mcp',
    });
  }
  if (linking && uris.length === 0) {
    found.push({
      key: 'assistant:redirect_uris',
      message:
        'is empty, but assistant:account_linking is true; copy the callback URIs from the ' +
        "vendor's console",
    });
  }
  if (scopes.includes(SERVICE_SCOPE)) {
    found.push({
      key: 'assistant:user_scopes',
      message: `must not contain ${SERVICE_SCOPE}, which is only for the service client`,
    });
  }
  if (scopes.join(' ') !== oauth.scopes_supported.join(' ')) {
    found.push({
      key: 'mcp:oauth:scopes_supported',
      message: `must be the same as assistant:user_scopes: ${scopes.join(', ')}`,
    });
  }
  return found;
}
