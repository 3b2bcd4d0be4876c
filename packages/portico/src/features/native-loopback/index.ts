import { defineFeature } from '../../feature.ts';
import { isOnAnotherPort } from './matching.ts';

/**
 * Supports native applications that receive authorization responses on a port of the user's own
 * device.
 */
export const nativeLoopback = defineFeature({
  name: 'native_loopback',
  start: () => ({ mayRedirect: isOnAnotherPort }),
});
