// The same application, started by `npx portico serve`. `Bench` starts the console with this file
// as its `--app`.
import { placeOfProcess, runTarget } from '../target.ts';
import { definitionFor, seed, serve } from './portico-application.ts';

export default definitionFor(placeOfProcess());

if (process.argv[1] === import.meta.filename) await runTarget({ seed, serve });
