import { defineFeature } from '../../feature.ts';
import { formPostShape } from './config.ts';
import { FormPostMode } from './mode.ts';

/**
 * Lets browsers post the response to a client that requests this (OAuth 2.0 Form Post Response
 * Mode).
 */
export const formPost = defineFeature({
  name: 'form_post',
  config: formPostShape,
  start: ({ speaking }, { form_post: isOn = false }) =>
    isOn ? { responseModes: [new FormPostMode(speaking)] } : {},
});
