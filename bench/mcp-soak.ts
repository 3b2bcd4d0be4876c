// `node bench/mcp-soak.ts [calls]`: what MCP calls leave behind in a heap of 64 MiB, in each mount and both modes.
import { KIT, soak } from '../test/support/mcp/soak.ts';
import { MOUNTS } from '../test/support/mounts.ts';

const calls = Number(process.argv[2] ?? 20_000);

process.stdout.write(
  `${calls} calls of a tool that answers at once, one that answers later, ping and tools/list, in a heap of 64 MiB\n\n`,
);
process.stdout.write('| mount | JSON, bytes a call | streaming, bytes a call |\n| :-- | --: | --: |\n');
for (const mount of [KIT, ...MOUNTS.map(({ name }) => name)]) {
  const { json, streaming } = await soak({ mount, calls, heap: 64 });
  process.stdout.write(`| ${mount} | ${json.toFixed(0)} | ${streaming.toFixed(0)} |\n`);
}
