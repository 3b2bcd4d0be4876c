import { defineFeature } from '../../feature.ts';
import { formPostShape } from './config.ts';
import { FormPostMode } from './mode.ts';

/** A client can request that browsers post its responses (OAuth 2.0 Form Post Response Mode). */
export const formPost = defineFeature({
  name: 'form_post',
  config: formPostShape,
  start: ({ speaking }, { form_post: isOn = false }) =>
    isOn ? { responseModes: [new FormPostMode(speaking)] } : {},
});
