/** Prints the bill of materials (CycloneDX 1.6) of what was built: `npm run --silent sbom`. */
import path from 'node:path';
import { sbomOf } from './supply/sbom.ts';

process.stdout.write(
  `${JSON.stringify(sbomOf(path.join(import.meta.dirname, '..', '..')), null, 2)}\n`,
);
