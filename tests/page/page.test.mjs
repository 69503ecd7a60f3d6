// Pages in a real browser: nothing is loaded, nothing of a log runs, pictures can be used, and no barrier is left.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { browserPath, launch } from './browser.mjs';
import { cases, program, root } from './cases.mjs';
import { hostile, manyPrompts } from './logs.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'pages-'));
const options = browserPath ? {} : { skip: 'no Chromium: install it, or name it in the variable CHROMIUM' };
let browser;

before(async () => { if (browserPath) browser = await launch(); });
after(async () => { await browser?.close(); });

/** Makes a page and gives its path. */
function made(name, args, ...more) {
  const file = join(folder, `${name}.html`);
  execFileSync(program, [...args, '--format', 'html', '-o', file, ...more], { cwd: root });
  return file;
}

function written(name, text) {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Opens a page and notes everything that must not happen. */
async function opened(file, { bare = false, ...settings } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
  // A busy machine takes its time.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const wrong = [];
  page.on('console', message => wrong.push(`console: ${message.text()}`));
  page.on('pageerror', error => wrong.push(`error: ${error}`));
  page.on('dialog', dialog => { wrong.push('a dialog'); dialog.dismiss(); });
  page.on('request', request => { if (request.url() !== pathToFileURL(file).href) wrong.push(`request: ${request.url()}`); });
  if (!bare) {
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
  }
  const began = performance.now();
  await page.goto(pathToFileURL(file).href);
  // A page without script gets no frames to wait for.
  if (!bare) await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, wrong, took: performance.now() - began, close: () => context.close() };
}

/** Serious findings of axe. Its script is put in by the test, past the page's policy. */
async function barriers(file, settings) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true, ...settings });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(() => document.querySelectorAll('details').forEach(one => { one.open = true; }));
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  await context.close();
  return found.violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.target).join(' | ')}`);
}

for (const [name, args] of Object.entries(cases)) {
  for (const lang of ['en', 'zh']) {
    test(`${name} (${lang}): nothing is loaded, nothing is reported, no barrier`, options, async () => {
      const file = made(`${name}-${lang}`, args, '--lang', lang);
      assert.ok(statSync(file).size <= 300 * 1024, 'an ordinary page is small');
      const { page, wrong, close } = await opened(file);
      assert.equal(await page.evaluate(() => document.documentElement.lang), lang === 'zh' ? 'zh-CN' : 'en');
      assert.deepEqual(wrong, []);
      await close();
      const colorScheme = lang === 'zh' ? 'dark' : 'light';
      assert.deepEqual(await barriers(file, { colorScheme }), [], colorScheme);
    });
  }
}

test('a phone needs no sideways scrolling', options, async () => {
  for (const [name, args] of Object.entries(cases)) {
    const { page, close } = await opened(made(`${name}-phone`, args), { viewport: { width: 360, height: 800 } });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
    await close();
  }
});

test('a mark leads to its line, and says what it is', options, async () => {
  const { page, wrong, close } = await opened(made('jump', cases.leak));
  const mark = page.locator('svg.plot a[href]').nth(5);
  const line = await mark.getAttribute('data-line');
  await mark.hover({ force: true });
  const tip = page.locator('.tip');
  assert.equal(await tip.textContent(), await mark.getAttribute('aria-label'));
  assert.ok(await tip.isVisible());
  await mark.click({ force: true });
  const row = page.locator(`#L${line}`);
  assert.ok(await row.isVisible());
  assert.equal(await page.evaluate(() => document.activeElement.id), `L${line}`);
  assert.equal(await row.evaluate(row => {
    const box = row.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight;
  }), true, 'the line is in view');
  assert.deepEqual(wrong, []);
  await close();
});

test('pictures are used with the keyboard', options, async () => {
  const { page, close } = await opened(made('keys', cases.leak));
  const plot = page.locator('svg.plot').first();
  await plot.locator('a[tabindex="0"]').focus();
  const first = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await page.keyboard.press('ArrowRight');
  const second = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  assert.notEqual(first, second);
  assert.equal(await page.locator('.tip').textContent(), second);
  await page.keyboard.press('End');
  assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /24 held at prompt 25/);
  await close();
});

test('zoom widens the timeline within its frame', options, async () => {
  const { page, close } = await opened(made('zoom', cases.leak));
  const frame = page.locator('[data-zoom]');
  const width = () => frame.locator('svg').evaluate(svg => svg.getBoundingClientRect().width);
  const before = await width();
  await page.locator('.zoom button').nth(1).click();
  assert.ok(Math.abs((await width()) - before * 2) < 4);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await close();
});

test('a page says the same without script', options, async () => {
  const { page, close } = await opened(made('plain', cases.leak), { javaScriptEnabled: false, bare: true });
  assert.equal(await page.locator('svg.plot').count() >= 3, true);
  assert.equal(await page.locator('button:visible').count(), 0, 'no button that does nothing');
  await close();
});

test('a hostile log runs nothing', options, async () => {
  const log = written('hostile.log', hostile());
  for (const more of [[], ['--lang', 'zh'], ['--redact']]) {
    const file = made(`hostile${more.join('')}`, [log], ...more);
    const { page, wrong, close } = await opened(file);
    assert.equal(await page.evaluate(() => globalThis.owned), undefined);
    assert.equal(await page.locator('img, iframe, object, embed, link, base, form, svg script, body > style').count(), 0);
    assert.equal(await page.locator('script').count(), 1);
    assert.deepEqual(wrong, []);
    const text = readFileSync(file, 'utf8');
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(text), 'no control characters and no turning marks');
    assert.ok(statSync(file).size <= 300 * 1024);
    await close();
  }
});

test('ten thousand prompts are drawn within a second', options, async () => {
  const file = made('many', [written('many.log', manyPrompts(10_000))]);
  assert.ok(statSync(file).size <= 1.5 * 1024 * 1024, `${statSync(file).size}`);
  // The best of a few: what else the machine does is none of the page's doing.
  let best = Infinity;
  for (let round = 0; round < 4 && best >= 1000; round++) {
    const { took, close } = await opened(file);
    best = Math.min(best, took);
    await close();
  }
  assert.ok(best < 1000, `${best} ms`);
  const { page, wrong, close } = await opened(file);
  assert.match(await page.locator('#timeline figcaption').textContent(), /10000 prompts/);
  assert.deepEqual(wrong, []);
  await close();
});

test('what is private stays out of a redacted page', options, async () => {
  const log = written('private.log', [
    'Total VRAM 24576 MB, total RAM 65536 MB',
    'Starting server',
    'got prompt',
    'Requested to load Flux',
    '!!! Exception during processing !!! C:\\Users\\Marlene Brandt\\ComfyUI\\secret.png is missing',
    'Prompt executed in 3.00 seconds',
    '',
  ].join('\n'));
  const text = readFileSync(made('private', [log, '--redact']), 'utf8');
  assert.ok(!text.includes('Marlene'));
  assert.match(text, /Private words were replaced/);
});

/** Pages that other commands write, made once. */
function others() {
  const log = name => join('fixtures/case', name, 'console.log');
  const state = join(folder, 'session.json');
  const bisect = ['bisect', '--state', state];
  const quiet = { cwd: root, stdio: 'ignore' };
  execFileSync(program, [...bisect, 'start', log('a30_bisect_s0_all'), '--force'], quiet);
  for (const round of ['a30_bisect_s1_none', 'a30_bisect_s2_first_half']) execFileSync(program, [...bisect, 'step', log(round)], quiet);
  const ran = join(folder, 'ran.html');
  const run = ['run', '--log', join(folder, 'ran.log'), '--report', ran, '--format', 'html', '--'];
  execFileSync(program, [...run, process.execPath, '-e', 'process.stdout.write(require("fs").readFileSync(process.argv[1]))', log('a02_strong_leak_25')], quiet);
  return {
    checklist: made('checklist', ['checklist', log('a30_bisect_s0_all')]),
    probe: made('probe', ['probe']),
    bisect: made('bisect', [...bisect, 'status']),
    ran,
  };
}

test('pages of other commands load nothing, hold no barrier, and tell what they are about', options, async () => {
  const said = { checklist: 'BaseModel', probe: 'RAM', bisect: 'ComfyUI-Gloamwatch', ran: 'ZorblaxNet' };
  for (const [name, file] of Object.entries(others())) {
    const { page, wrong, close } = await opened(file, { viewport: { width: 390, height: 844 } });
    assert.deepEqual(wrong, [], name);
    assert.ok((await page.evaluate(() => document.querySelector('main').textContent)).includes(said[name]), name);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} on a phone`);
    await close();
    for (const colorScheme of ['light', 'dark']) assert.deepEqual(await barriers(file, { colorScheme }), [], name);
  }
});

test('no label lies on another, on a wide screen, a phone, and on paper', options, async () => {
  const files = Object.entries(cases).map(([name, args]) => made(`labels-${name}`, args, '--lang', 'en'));
  for (const file of files) {
    for (const [width, media] of [[1280, 'screen'], [390, 'screen'], [720, 'print']]) {
      const { page, close } = await opened(file, { viewport: { width, height: 900 } });
      await page.emulateMedia({ media });
      const both = await page.evaluate(() => {
        const found = [];
        for (const svg of document.querySelectorAll('svg')) {
          const texts = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
          texts.forEach(([text, a], index) => texts.slice(index + 1).forEach(([other, b]) => {
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 1 && down > 3) found.push(`${text} | ${other}`);
          }));
        }
        return { count: document.querySelectorAll('svg text').length, found };
      });
      assert.ok(both.count > 0, 'there are labels to look at');
      assert.deepEqual(both.found, [], `${file} at ${width}, ${media}`);
      await close();
    }
  }
});

test('numbers of an axis leave room for what is drawn', options, async () => {
  const { page, close } = await opened(made('room', cases.leak), { viewport: { width: 390, height: 844 } });
  const near = await page.evaluate(() => {
    const boxes = selector => [...document.querySelectorAll(`[id^=ladder] ${selector}`)].map(one => one.getBoundingClientRect());
    const numbers = boxes('text.tick').filter(box => box.left < 40);
    const dots = boxes('circle.dot');
    const hit = (a, b) => a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top;
    return { numbers: numbers.length, dots: dots.length, hit: numbers.some(number => dots.some(dot => hit(number, dot))) };
  });
  assert.ok(near.numbers > 1 && near.dots > 20, JSON.stringify(near));
  assert.ok(!near.hit, 'a number lies on a dot');
  await close();
});
