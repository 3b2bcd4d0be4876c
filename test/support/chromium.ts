import { chromium, type Browser } from 'playwright-core';
import { programOf } from './extras.ts';

/** Launches a headless Chromium that can resolve only localhost. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: programOf('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  });
}
