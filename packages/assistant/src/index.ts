/**
 * The voice-assistant plugin. It contains defaults, the setup of clients, diagnostics and the
 * export of the listing.
 */
export { assistant } from './plugin.ts';
export type { AssistantConfigInput } from './config.ts';
export type { DirectoryName } from './directories.ts';
export { examineAssistant, type AssistantReport } from './doctor.ts';
export { addonManifest, listingProblems, type Listing } from './listing.ts';
