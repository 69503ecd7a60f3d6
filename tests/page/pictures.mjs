// Makes docs/pages/: pages of a few fixtures as a wide screen and a phone show them, in light and dark.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';
import { cases, program, root } from './cases.mjs';

const out = process.argv[2] ?? join(root, 'docs/pages');
const only = process.argv.slice(3);
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'pages-'));
const browser = await launch();
for (const [name, args] of Object.entries(cases)) {
  if (only.length && !only.includes(name)) continue;
  const file = join(folder, `${name}.html`);
  execFileSync(program, [...args, '--lang', 'en', '--format', 'html', '-o', file], { cwd: root });
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: { width, height: width === 1280 ? 900 : 844 }, colorScheme });
      await page.goto(pathToFileURL(file).href);
      // The answer and its pictures; what stands below is text.
      const height = await page.evaluate(() => {
        const last = [...document.querySelectorAll('figure.picture')].at(-1) ?? document.querySelector('main');
        return Math.ceil(last.getBoundingClientRect().bottom + scrollY + 12);
      });
      const picture = join(out, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({
        path: picture,
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, 2600) },
      });
      // A third of the size, where the tool is there.
      spawnSync('pngquant', ['--force', '--skip-if-larger', '--output', picture, '48', picture]);
      await page.close();
    }
  }
}
await browser.close();
