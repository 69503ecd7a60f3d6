// The browser of these tests: Chromium from the system, with nothing of its own on the network.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of the browser; none where it is not installed. */
export const browserPath = candidates.find(path => path && existsSync(path));

/** Starts it. */
export const launch = () =>
  chromium.launch({
    executablePath: browserPath,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  });
