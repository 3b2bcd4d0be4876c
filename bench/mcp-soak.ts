// `node bench/mcp-soak.ts [calls] [mount]`: what MCP calls leave behind in a heap of 64 MiB, in each mount and every mode.
import { soak, SOAKED } from '../test/support/mcp/soak.ts';

const calls = Number(process.argv[2] ?? 20_000);
const mounts = SOAKED.filter((mount) => mount.includes(process.argv[3] ?? ''));

process.stdout.write(
  `${calls} calls of a tool that answers at once, one that answers later, ping and tools/list, and of one whose caller hangs up in the\n` +
    'middle, in a heap of 64 MiB; bytes a call\n\n',
);
process.stdout.write('| mount | JSON | streaming | hung up |\n| :-- | --: | --: | --: |\n');
for (const mount of mounts) {
  const { json, streaming, hungUp } = await soak({ mount, calls, heap: 64 });
  const cells = [json, streaming, hungUp].map((bytes) => bytes.toFixed(0));
  process.stdout.write(`| ${[mount, ...cells].join(' | ')} |\n`);
}
