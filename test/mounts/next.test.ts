// @engines sqlite, long: it installs Next and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({ name: 'Next', folder: 'next', normalises: true, parsesJson: false });
