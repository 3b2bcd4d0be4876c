// `node tools/bench/heap.ts [calls] [mount] [path]` prints what calls leave behind in a heap of 64
// MiB, for each mount and each path.
import { PATHS, soak, SOAKED } from '../../test/support/soak/soak.ts';

const calls = Number(process.argv[2] ?? 20_000);
const mounts = SOAKED.filter((mount) => mount.includes(process.argv[3] ?? ''));
const paths = PATHS.filter((each) => each.includes(process.argv[4] ?? ''));

process.stdout.write(
  `Bytes that a call leaves in a heap of 64 MiB: the slope of a line through six measures, with its standard error; ${calls} calls by MCP, and\n` +
    'a quarter or a sixth of it on the other paths, whose calls are four to fifteen requests\n\n',
);
process.stdout.write(
  `| mount | ${paths.join(' | ')} |\n| :-- | ${paths.map(() => '--:').join(' | ')} |\n`,
);
for (const mount of mounts) {
  const grown = await soak({ mount, calls, heap: 64, paths });
  const cells = [...grown.values()].map(
    ({ bytes, error }) => `${bytes.toFixed(0)} ± ${error.toFixed(0)}`,
  );
  process.stdout.write(`| ${[mount, ...cells].join(' | ')} |\n`);
}
