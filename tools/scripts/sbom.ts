/** `npm run --silent sbom` prints the bill of materials (CycloneDX 1.6) of the built packages. */
import path from 'node:path';
import { sbomOf } from './supply/sbom.ts';

process.stdout.write(
  `${JSON.stringify(sbomOf(path.join(import.meta.dirname, '..', '..')), null, 2)}\n`,
);
