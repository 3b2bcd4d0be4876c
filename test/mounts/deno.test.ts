// @engines sqlite, long: it installs Deno, and runs on it
import { holdStack } from '../support/stacks.ts';

holdStack({ name: 'Deno', folder: 'deno', normalises: true, parsesJson: false, foreignForm: 403 });
