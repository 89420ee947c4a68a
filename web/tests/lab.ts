// The service, its hosts and a browser for specifications of the page.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { expect } from 'vitest';

export const source = process.env['SLIPWAY_SOURCE'] ?? fileURLToPath(new URL('../..', import.meta.url));
const pictures = join(process.env['SLIPWAY_BUILD'] ?? join(source, 'build'), 'web/screenshots');

type Waiting = { resolve: (value: unknown) => void; reject: (why: Error) => void };

// Hosts played by tests/component/web/lab.py, and the service that they report to.
export class Lab {
  url = '';
  token = '';
  private waiting: Waiting[] = [];
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-web-'));
    const child = spawn('/usr/bin/python3', [join(source, 'tests/component/web/lab.py'), folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lab = new Lab(child, folder);
    createInterface({ input: child.stdout! }).on('line', line => {
      const { result, error } = JSON.parse(line) as { result?: unknown; error?: string };
      const first = lab.waiting.shift();
      if (error === undefined) first?.resolve(result);
      else first?.reject(new Error(error));
    });
    child.on('exit', () => lab.waiting.forEach(each => each.reject(new Error('the lab has ended'))));
    Object.assign(lab, await new Promise((resolve, reject) => lab.waiting.push({ resolve, reject })));
    return lab;
  }

  call<T = unknown>(target: 'service' | 'lab' | number, method: string, ...args: unknown[]): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.process.stdin!.write(JSON.stringify({ target, method, arguments: args }) + '\n');
    }) as Promise<T>;
  }

  async stop() {
    const ended = new Promise(resolve => this.process.once('exit', resolve));
    this.process.stdin!.end();
    expect(await ended, 'the service ends well').toBe(0);
    rmSync(this.folder, { recursive: true });
  }
}

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

// A page whose errors fail the test: of scripts, of the console, of the policy for content.
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce', acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // of a busy machine
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => {
    // What the service refuses is shown on the page; the browser also logs it.
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) errors.push(message.text());
  });
  page.on('request', request => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) errors.push(`a request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, errors };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const widths = [390, 1280, 2560];

// What was on the screen when a test failed.
export async function pictureOfFailure(page: Page | undefined, failed: boolean) {
  if (!failed || !page) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, 'failure.png'), fullPage: true });
  console.error(`on the screen (${pictures}/failure.png): ${(await page.locator('body').innerText()).slice(0, 3000)}`);
}

// How many screens were looked at.
export const seen: string[] = [];

// Looks at a screen in light and dark, narrow and wide: no violation of accessibility rules, nothing that reaches out of the window.
// Takes pictures of two of these.
export async function inspect(page: Page, name: string) {
  mkdirSync(pictures, { recursive: true });
  seen.push(name);
  const theme = page.getByLabel('Color theme');
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    // The document, and the part of it that scrolls.
    const overflow = await page.evaluate(() =>
      Math.max(...[document.documentElement, document.getElementById('main')!].map(each => each.scrollWidth - each.clientWidth)),
    );
    expect(overflow, `${name}: pixels beyond a window of ${width} pixels`).toBeLessThanOrEqual(0);
  }
  for (const [color, width] of [['light', 1280], ['dark', 390]] as const) {
    await page.setViewportSize({ width, height: 900 });
    // A dialog covers the choice, which then keeps its value.
    if (!(await page.getByRole('dialog').isVisible())) await theme.selectOption(color);
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const result = await (window as unknown as { axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        resultTypes: ['violations'], // not what passes
      });
      return result.violations.map(each => `${each.id}: ${each.nodes.map(node => `${node.html.slice(0, 200)} ${node.failureSummary.slice(0, 300)}`).join('\n  ')}`);
    });
    expect(found, `${name}, ${color}: accessibility`).toEqual([]);
    await page.screenshot({ path: join(pictures, `${name}-${color}.png`) });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

// What docs/web.md says of each picture, by name.
function captions(): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of readFileSync(join(source, 'docs/web.md'), 'utf8').split('\n')) {
    const row = /^\| `([a-z-]+)` \| (.*) \|$/.exec(line);
    if (row) found.set(row[1]!, row[2]!);
  }
  return found;
}

// docs/web.md lists the screens that were seen, and no others of this specification. Writes the page that shows all pictures.
export function checkPictures(isOfThis: (name: string) => boolean) {
  const known = captions();
  expect([...known.keys()].filter(isOfThis).sort()).toEqual([...new Set(seen)].sort());
  const taken = readdirSync(pictures);
  const figures = [...known].flatMap(([name, caption]) =>
    ['light', 'dark']
      .map(color => `${name}-${color}.png`)
      .filter(file => taken.includes(file))
      .map(file => `<figure><img src="${file}" alt="${name}" loading="lazy"><figcaption>${caption} (${file})</figcaption></figure>`),
  );
  const style = 'body{font-family:sans-serif} img{max-width:100%;border:1px solid #888} figure{margin:2em 0}';
  writeFileSync(
    join(pictures, 'index.html'),
    `<!doctype html><meta charset="utf-8"><title>Screens of slipway</title><style>${style}</style><h1>Screens of slipway</h1>\n${figures.join('\n')}\n`,
  );
}

// Reaches an element by the Tab key alone, as a person without a mouse does.
export async function tabTo(page: Page, name: string) {
  for (let presses = 0; presses < 80; ++presses) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement as (HTMLElement & { labels?: NodeListOf<HTMLLabelElement> }) | null;
      if (!element) return '';
      return element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
    });
    if (focused.replace(/\s*\*$/, '').trim() === name) return;
  }
  throw new Error(`the Tab key does not reach ${name}`);
}
