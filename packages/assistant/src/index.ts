/** The voice-assistant plugin: defaults, client setup, diagnostics and the listing export. */
export { assistant } from './plugin.ts';
export type { AssistantConfigInput } from './config.ts';
export type { DirectoryName } from './directories.ts';
export { examineAssistant, type AssistantReport } from './doctor.ts';
export { addonManifest, listingProblems, type Listing } from './listing.ts';
