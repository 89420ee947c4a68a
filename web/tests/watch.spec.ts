import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkPictures, inspect, openPage, startBrowser } from './lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-watch-'));
const file = join(folder, 'events.jsonl');
let server: ChildProcess, url: string, browser: Browser;

function report(second: number, kind: string, name: string, phase: string, more: object = {}) {
  const time = `2026-11-21T09:30:${second.toFixed(3).padStart(6, '0')}Z`;
  appendFileSync(file, JSON.stringify({ time, source: 'slipway', kind, name, phase, ...more }) + '\n');
}

beforeAll(async () => {
  server = spawn(join(process.env['SLIPWAY_BIN'] ?? '', 'slipway'), ['watch', '--from', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>(resolve => createInterface({ input: server.stdout! }).once('line', resolve));
  url = line.split(' ')[0]!.replace(/\/$/, '');
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  server.kill('SIGTERM');
  rmSync(folder, { recursive: true });
});

test('the page follows an installation from before its begin to its end', async () => {
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { page, errors } = await openPage(browser, url);
  await page.getByText('The installation has not begun').waitFor();
  await inspect(page, 'watch-empty');
  report(0, 'step', 'assets', 'started', { description: 'assets are generated' });
  report(1, 'step', 'assets', 'finished', { duration_ms: 1000, description: 'assets are generated' });
  report(1.5, 'step', 'machines', 'started', { description: '5 machines are created' });
  report(2, 'stage', 'render', 'started', { source: 'bootstrap', needs: [] });
  await page.getByText('1 of 2 steps done').waitFor();
  await page.getByText('running 5 machines are created').waitFor();
  await page.getByText(/stage render, for/).waitFor();
  report(3, 'stage', 'render', 'failed', { source: 'bootstrap', duration_ms: 1000, error: { code: 'timeout', message: '<img src=x onerror=alert(1)> is too slow' } });
  await page.getByText('is too slow').first().waitFor();
  report(4, 'step', 'machines', 'finished', { duration_ms: 2500, description: '5 machines are created' });
  await inspect(page, 'watch');
  report(9, 'step', 'cluster-version', 'finished', { duration_ms: 4000, description: 'the release is installed' });
  await page.getByText('The installation took 9 s.').waitFor();
  await inspect(page, 'watch-installed');
  expect(errors).toEqual([]);
});

test('the documentation shows every screen', () => checkPictures(name => name.startsWith('watch')));

test('pages of other sites get nothing', async () => {
  for (const [headers, status] of [[{ origin: 'http://example.com' }, 403], [{}, 200]] as const) {
    expect((await fetch(`${url}/watch/events`, { headers })).status).toBe(status);
  }
  expect((await fetch(`${url}/watch/events`, { method: 'POST' })).status).toBe(405);
});
