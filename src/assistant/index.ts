/** The voice-assistant plugin: defaults, client setup, diagnostics and the listing export. */
export { assistant } from './plugin.ts';
export { assistantConfiguration, type AssistantConfig, type AssistantConfigInput } from './config.ts';
export { examineAssistant, type AssistantReport } from './doctor.ts';
export { addonManifest, lengthOf, listingProblems, type Listing } from './listing.ts';
export { ListingError, setUpAssistant, type AssistantSetup, type ClientSetup } from './setup.ts';
export type { ClientRole } from './clients.ts';
