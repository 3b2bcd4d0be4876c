import { defineFeature } from '../../feature.ts';
import { isOnAnotherPort } from './matching.ts';

/** Native applications that wait for their answer on a port of the person's device. */
export const nativeLoopback = defineFeature({
  name: 'native_loopback',
  start: () => ({ mayRedirect: isOnAnotherPort }),
});
