import { runTarget } from '../target.ts';
import { seed, serve } from './portico-application.ts';

await runTarget({ seed, serve });
