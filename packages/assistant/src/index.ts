/**
 * The voice-assistant plugin. It adds default settings, and commands that register the assistant's
 * clients, export the directory listing and check the setup.
 */
export { assistant } from './plugin.ts';
export type { AssistantConfigInput } from './config.ts';
export type { DirectoryName } from './directories.ts';
export { examineAssistant, type AssistantReport } from './doctor.ts';
export { addonManifest, listingProblems, type Listing } from './listing.ts';
