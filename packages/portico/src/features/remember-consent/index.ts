import type { RequestCheck } from '../../authorization/request-check.ts';
import { isSilent, refuseSilent } from '../../authorization/request-parameters.ts';
import { defineFeature, type Contribution } from '../../feature.ts';
import type { RevokesAlso } from '../../grants/access.ts';
import { MARKED } from '../../store/further-metadata.ts';
import { rememberConsentShape } from './config.ts';
import { consentOf } from './kept-consent.ts';
import { FIRST_PARTY, FirstPartyMemory } from './memory.ts';

/**
 * Skips the consent page for first-party clients that the user has already allowed the same access.
 */
export const rememberConsent = defineFeature({
  name: 'remember_consent',
  config: rememberConsentShape,
  clientMetadata: [
    {
      name: FIRST_PARTY,
      called: 'first-party',
      option: {
        flag: '--first-party',
        says:
          "the organization's own application: people who have allowed the same access before " +
          'are not asked again. Requires oauth_server:remember_consent',
      },
      shape: 'flag',
      selfRegistered: 'never',
      most: 1,
      problem: (value, applicationType) => {
        if (value !== MARKED) return `is not ${MARKED}`;
        return applicationType === 'web'
          ? null
          : 'is only for web applications: another program on the device can receive the redirect of a native application';
      },
      isOffered: ({ remember_consent: isOn = false }) => isOn,
    },
  ],
  start(server, { remember_consent: isOn = false }) {
    // With a revoked authorization, also revoke the user's others for this client with stored
    // consent. Otherwise, the server could skip the consent page because of one of these. The
    // setting may be turned on later, so do this even if it is off.
    const revokesAlso: RevokesAlso = (revoked, other) =>
      consentOf(revoked) !== null && consentOf(other) !== null;
    const memory = new FirstPartyMemory(server, isOn);
    const always: Contribution = {
      revokesAlso,
      consentAnswered: (request, _, refused) => memory.answered(request, refused),
    };
    if (!isOn) return always;
    const checkSilent: RequestCheck = async ({ parameters, client }) => {
      if (!isSilent(parameters)) return {};
      if (!(await memory.remembers(client))) refuseSilent(parameters);
      return { silent: true };
    };
    return {
      ...always,
      priorConsent: memory,
      keepsDetails: (allowed) => memory.mark(allowed),
      requestParameters: ['prompt', 'id_token_hint'],
      requestChecks: { prompt_none: checkSilent },
    };
  },
});
