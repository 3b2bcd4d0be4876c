// `node tools/bench/heap.ts [calls] [mount] [path]` prints what calls leave behind in a heap of 64
// MiB, for each mount and each path.
import { printRows } from './print.ts';
import { PATHS, soak, SOAKED } from '../../test/support/soak/soak.ts';

const calls = Number(process.argv[2] ?? 20_000);
const mounts = SOAKED.filter((mount) => mount.includes(process.argv[3] ?? ''));
const paths = PATHS.filter((each) => each.includes(process.argv[4] ?? ''));

const rows: string[][] = [];
for (const mount of mounts) {
  const grown = await soak({ mount, calls, heap: 64, paths });
  const cells = [...grown.values()].map(
    ({ bytes, error }) => `${bytes.toFixed(0)} ± ${error.toFixed(0)}`,
  );
  rows.push([mount, ...cells]);
}
printRows(['mount', ...paths], rows, {
  caption: 'Bytes that a call leaves in the heap, with their standard error:',
});
