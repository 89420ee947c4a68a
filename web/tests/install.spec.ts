import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { checkPictures, inspect, Lab, openPage, pictureOfFailure, startBrowser, tabTo } from './lab.ts';

const pullSecret = '{"auths":{"registry.example.com":{"auth":"YTpi"}}}';
const api = '192.168.126.100', ingress = '192.168.126.101';

let lab: Lab, browser: Browser, page: Page, errors: string[];

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.start(), startBrowser()]);
  ({ page, errors } = await openPage(browser, lab.url));
});

afterAll(async () => {
  await browser?.close();
  await lab?.stop();
});

afterEach(context => pictureOfFailure(page, context.task.result?.state === 'fail'));

const heading = (name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor();
const step = (name: string) => page.getByRole('navigation', { name: 'Steps of the installation' }).getByRole('link', { name }).click();
const text = (words: string | RegExp) => page.getByText(words).first().waitFor();
const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
const next = (title: string) => page.getByRole('button', { name: `Next: ${title}` });

test('signing in: a wrong token is refused, the right one stays in this tab only', async () => {
  await heading('Sign in');
  await inspect(page, 'sign-in');
  await page.locator('#token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await text('The token was not accepted');
  await page.locator('#token').fill(lab.token);
  await page.keyboard.press('Enter');
  await heading('Clusters');
  expect(page.url()).not.toContain(lab.token.slice(-20));
  expect(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)).not.toContain(lab.token.slice(-20));
});

test('the empty list says what to do', async () => {
  await text('No clusters yet');
  await inspect(page, 'clusters-empty');
});

test('a cluster is created with the keyboard alone', async () => {
  await tabTo(page, 'Create cluster');
  await page.keyboard.press('Enter');
  await heading('Create cluster');
  await tabTo(page, 'Name');
  await page.keyboard.type('Demo');
  await page.keyboard.press('Tab');
  await text('Use lower-case letters');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('demo');
  await tabTo(page, 'Base domain');
  await page.keyboard.type('example.com');
  await tabTo(page, 'Pull secret');
  await page.keyboard.type(pullSecret);
  await inspect(page, 'create-cluster');
  await tabTo(page, 'Create cluster');
  await page.keyboard.press('Enter');
  await text('No hosts yet');
  await inspect(page, 'hosts-empty');
});

test('the dialog for more hosts gives the discovery config, and says why there is no image', async () => {
  await page.getByRole('button', { name: 'Add hosts' }).click();
  await page.getByRole('dialog').waitFor();
  await inspect(page, 'add-hosts');
  await page.getByRole('button', { name: 'Get the URL of the discovery image' }).click();
  await text('the service has no live image');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the discovery config' }).click()]);
  expect(download.suggestedFilename()).toBe('discovery.ign');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('hosts appear when they report themselves; failure 1: too little memory, failure 2: the same name twice', async () => {
  await lab.call('lab', 'adopt', 'demo', 3);
  for (const number of [0, 1, 2]) await lab.call(number, 'register');
  await text('3 hosts');
  await lab.call(0, 'describe', { memory: { physical_bytes: 4 * 2 ** 30, usable_bytes: 4 * 2 ** 30 } });
  await lab.call(1, 'describe', {});
  await lab.call(2, 'describe', { hostname: 'host-1' });
  await text('Before you go on');
  await page.getByText(/4 GiB|memory/i).first().waitFor();
  expect(await next('Storage').isDisabled()).toBe(true);
  await inspect(page, 'hosts-failures');

  await lab.call(0, 'describe', {}); // more memory was added
  await page.locator(`#select-${await lab.call<string>('lab', 'id_of', 2)}`).check();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.locator('#pattern').fill('host-2');
  await inspect(page, 'rename-host');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await lab.call('lab', 'check');
  await page.getByRole('link', { name: 'host-2' }).first().waitFor();
  await page.getByText('Before you go on').waitFor({ state: 'detached' });
  await inspect(page, 'hosts');
});

test('the screen of a host shows its hardware and checks', async () => {
  await page.getByRole('link', { name: 'host-0' }).first().click();
  await heading('Hardware');
  await text('120 GB');
  await text('16 GiB');
  await inspect(page, 'host');
  await page.getByRole('link', { name: 'demo' }).click();
  await heading('Hosts');
});

test('the details can be changed', async () => {
  await step('Details');
  await heading('Details of the cluster');
  await inspect(page, 'details');
  await step('Hosts');
  await heading('Hosts');
});

test('the disk is chosen', async () => {
  await next('Storage').click();
  await heading('Installation disks');
  await text('Everything on an installation disk is lost');
  await inspect(page, 'storage');
  await next('Networking').click();
});

test('failure 3: the address of the API is taken', async () => {
  await page.getByRole('heading', { name: 'Networking', exact: true }).waitFor();
  expect(await next('Review').isDisabled()).toBe(true);
  await page.getByLabel('Address of the API').fill(api);
  await page.getByLabel('Address of applications').fill(ingress);
  await page.getByRole('button', { name: 'Save networks' }).click();
  await text('The networks are saved.');
  await lab.call(0, 'reply', 'verify-vips', [
    { vip: api, vip_type: 'api', verification: 'failed' },
    { vip: ingress, vip_type: 'ingress', verification: 'succeeded' },
  ]);
  await page.getByText(new RegExp(`${api}.*(in use|used|answers|taken)`)).first().waitFor();
  expect(await next('Review').isDisabled()).toBe(true);
  await inspect(page, 'networking-failure');
  await lab.call('lab', 'check'); // the other machine was switched off
  await page.getByRole('link', { name: /^Networking.*done/ }).waitFor();
  await inspect(page, 'networking');
  await next('Review').click();
});

test('the review asks once, names the disks, and installs', async () => {
  await heading('Review and install');
  await text('All checks passed.');
  await page.getByText('All checks', { exact: true }).click();
  await inspect(page, 'review');
  await tabTo(page, 'Install cluster');
  await page.keyboard.press('Enter');
  await text('Everything on these disks is lost');
  await page.getByText(/host-0 \(control plane\): vda, 120 GB/).waitFor();
  await inspect(page, 'install-question');
  await tabTo(page, 'Erase the disks and install');
  await page.keyboard.press('Enter');
  await heading('Installation');
  await page.getByRole('heading', { name: 'Who waits for whom' }).waitFor();
  await inspect(page, 'preparing');
});

const masters = async () => {
  const bootstrap = await lab.call<number>('lab', 'number_of_bootstrap');
  return { bootstrap, others: [0, 1, 2].filter(number => number !== bootstrap) as [number, number] };
};

test('failure 4: the service is killed during the installation; the page says so and goes on by itself', async () => {
  await lab.call('lab', 'prepare');
  const { bootstrap, others } = await masters();
  for (const number of [0, 1, 2]) await lab.call(number, 'stage', 'Starting installation', '');
  await lab.call(bootstrap, 'stage', 'Waiting for control plane', 'masters joining');
  await page.getByText(new RegExp(`host-${bootstrap} waits for host-`)).waitFor();
  await lab.call('service', 'kill');
  await text('The connection to the service was lost');
  await lab.call('service', 'start');
  await page.getByText('The connection to the service was lost').waitFor({ state: 'detached' });
  await lab.call(others[0], 'stage', 'Writing image to disk', '40%');
  await page.getByText('Writing image to disk (3 of').waitFor();
  await inspect(page, 'installing');
});

test('failure 5: a host boots the discovery image again; the page names the host and the disk', async () => {
  const { others } = await masters();
  await lab.call(others[0], 'stage', 'Rebooting', '');
  await lab.call(others[0], 'boot');
  await lab.call(others[0], 'register');
  await heading(`host-${others[0]} waits for you`);
  await page.getByText(`Start host-${others[0]} from its disk /dev/vda`).first().waitFor();
  await inspect(page, 'wrong-boot-order');
  await lab.call('lab', 'installed', others[0], 'Configuring');
  await page.getByRole('heading', { name: 'waits for you' }).waitFor({ state: 'detached' });
});

test('the cluster is installed', async () => {
  const { bootstrap, others } = await masters();
  await lab.call(others[1], 'stage', 'Rebooting', '');
  for (const number of others) for (const stage of ['Configuring', 'Joined', 'Done']) await lab.call('lab', 'installed', number, stage);
  for (const stage of ['Waiting for bootkube', 'Waiting for controller', 'Rebooting']) await lab.call(bootstrap, 'stage', stage, '');
  for (const stage of ['Configuring', 'Joined', 'Done']) await lab.call('lab', 'installed', bootstrap, stage);
  await page.getByText('3 of 3 hosts installed').waitFor();
  await lab.call('lab', 'control', 'PUT', 'CLUSTER/progress', { finalizing_stage: 'Waiting for cluster operators' });
  await lab.call('lab', 'control', 'PUT', 'CLUSTER/monitored-operators', { name: 'dns', status: 'progressing', version: '4.20', status_info: 'pods start' });
  await page.getByText('demo waits for operator dns (progressing)').waitFor();
  await inspect(page, 'finalizing');
  await lab.call('lab', 'control', 'PUT', 'CLUSTER/monitored-operators', { name: 'dns', status: 'available', version: '4.20' });
  await lab.call('lab', 'control', 'POST', 'CLUSTER/actions/complete-installation', { is_success: true });
  await page.getByText('The installation took').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download kubeconfig' }).click()]);
  expect(download.suggestedFilename()).toBe('kubeconfig-demo');
  await page.getByText('The same as a table').click();
  await inspect(page, 'installed');
  await page.setViewportSize({ width: 2560, height: 1400 });
  await page.screenshot({ path: `${process.env['SLIPWAY_BUILD'] ?? 'build'}/web/screenshots/installed-wide.png` });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('events can be filtered', async () => {
  await step('Events');
  await text(/\d+ events/);
  await inspect(page, 'events');
  await page.getByLabel('Severity').selectOption('warning');
  await page.getByLabel('Text').fill('booted');
  await page.getByText(/^\d+ events?$/).waitFor();
  await page.getByLabel('Text').fill('no event has this text');
  await page.getByText('0 events').waitFor();
});

test('hosts are added later, and a cluster is deleted after a question that says what is lost', async () => {
  await step('Installation');
  await page.getByRole('button', { name: 'Add hosts to the cluster' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add hosts' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await step('Hosts');
  await text('No hosts yet');
  await page.getByRole('link', { name: 'Clusters' }).first().click();
  await row('demo').waitFor();
  await inspect(page, 'clusters');
  await page.getByRole('button', { name: 'Delete cluster demo' }).click();
  await text('The service forgets the cluster');
  await inspect(page, 'delete-question');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete cluster' }).click();
  await text('No clusters yet');
});

test('a host that fails: its logs can be had, and the installation begins again', async () => {
  await page.getByRole('link', { name: 'Create cluster' }).click();
  await page.getByLabel('Name').fill('second');
  await page.getByLabel('Base domain').fill('example.com');
  await page.getByLabel('Pull secret').fill(pullSecret);
  await page.getByRole('button', { name: 'Create cluster' }).click();
  await text('No hosts yet');
  await lab.call('lab', 'adopt', 'second', 3);
  await lab.call('service', 'call', 'PATCH', `/clusters/${new URL(page.url()).hash.split('/')[2]}`, { api_vips: [{ ip: api }], ingress_vips: [{ ip: ingress }] });
  await lab.call('lab', 'discover');
  await step('Review');
  await text('All checks passed.');
  await page.getByRole('button', { name: 'Install cluster' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase the disks and install' }).click();
  await heading('Installation');
  await lab.call('lab', 'prepare');
  const { others } = await masters();
  await lab.call(others[0], 'stage', 'Writing image to disk', '10%');
  await lab.call(others[0], 'boot');
  await lab.call(others[0], 'register');
  await heading('The installation failed');
  await lab.call('lab', 'send_logs', others[0]);
  const logs = page.getByRole('button', { name: `Download the logs of host-${others[0]}` });
  const [download] = await Promise.all([page.waitForEvent('download'), logs.click()]);
  expect(download.suggestedFilename()).toBe(`host-${others[0]}.tar.gz`);
  await inspect(page, 'failed');
  await page.getByRole('button', { name: 'Begin again' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Begin again' }).click();
  await page.getByText(/Insufficient|Pending/).first().waitFor();
});

test('signing out forgets the token', async () => {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading('Sign in');
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

test('no script failed, nothing came from elsewhere', () => {
  expect(errors).toEqual([]);
});

test('the documentation shows every screen', () => checkPictures(name => !name.startsWith('watch')));
