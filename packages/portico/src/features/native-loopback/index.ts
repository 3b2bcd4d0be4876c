import { defineFeature } from '../../feature.ts';
import { isOnAnotherPort } from './matching.ts';

/** Supports native applications that receive responses on a loopback port of the user's device. */
export const nativeLoopback = defineFeature({
  name: 'native_loopback',
  start: () => ({ mayRedirect: isOnAnotherPort }),
});
