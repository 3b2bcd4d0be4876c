import { defineApplication, mergeConfig } from 'portico/host';
import { tool } from 'portico/mcp';
import kitchen from '../examples/assistant/app.ts';

const OTHER_TOOLS = 48;

/** The host of `examples/assistant` with fifty tools. */
export default defineApplication({
  ...kitchen,
  config: (env) => {
    const own = typeof kitchen.config === 'function' ? kitchen.config(env) : kitchen.config;
    return mergeConfig(own, { log: { path: `${env['STORAGE_DIR'] ?? '.'}/app.log` } });
  },
  async register(application) {
    await kitchen.register?.(application);
    for (let index = 0; index < OTHER_TOOLS; index += 1) {
      tool().register({
        name: () => `tool_${index}`,
        description: () => `The tool ${index}, which is there to be listed and found`,
        inputSchema: () => ({ type: 'object', properties: { a: { type: 'integer' } } }),
        handle: () => ({ index }),
      });
    }
  },
});
