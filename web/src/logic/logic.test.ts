import { describe, expect, test } from 'vitest';
import type { Cluster, Host, ServiceEvent } from '../api/types.ts';
import { problemOfAddress, problemOfDomain, problemOfName, problemOfNetwork, problemOfPrefix, problemOfPullSecret } from './forms.ts';
import { namesOf, problemOfPattern } from './names.ts';
import { shownEventsOf, stepsOf, type RecordedEvent } from './recorded.ts';
import { hashOf, routeOf, type Route } from './route.ts';
import { countsOf, installedCounts, sortedHosts, toneOfCluster, waitsOf, words } from './states.ts';
import { groupsOf, timelineOf, waitText } from './timeline.ts';
import { cores, duration, gibibytes, gigabytes, plural, speed } from './units.ts';

const id = (digit: string) => digit.repeat(8) + '-0000-4000-8000-' + digit.repeat(12);

function host(name: string, more: Partial<Host> = {}): Host {
  return {
    id: id(name.slice(-1)), infra_env_id: id('e'), status: 'known', status_info: '', status_updated_at: '', role: 'master', suggested_role: 'master',
    bootstrap: false, requested_hostname: name, checked_in_at: '', created_at: '', registered_at: '', validations_info: '{}', ...more,
  };
}

function cluster(hosts: Host[], more: Partial<Cluster> = {}): Cluster {
  return {
    id: id('c'), kind: 'Cluster', name: 'demo', status: 'installing', status_info: '', status_updated_at: '', created_at: '', control_plane_count: 3,
    cpu_architecture: 'x86_64', pull_secret_set: true, user_managed_networking: false, machine_networks: [], host_networks: [], validations_info: '{}',
    total_host_count: hosts.length, ready_host_count: 0, monitored_operators: [], hosts,
    progress: { total_percentage: 0, preparing_for_installation_stage_percentage: 0, installing_stage_percentage: 0, finalizing_stage_percentage: 0, finalizing_stage: '' },
    ...more,
  };
}

const inStage = (current_stage: string) => ({ status: 'installing-in-progress', progress: { current_stage, progress_info: '', installation_percentage: 0 } });

test('numbers have units', () => {
  expect([850, 9300, 59_990, 185_000, 7_440_000, -5].map(duration)).toEqual(['850 ms', '9.3 s', '1 min 0 s', '3 min 5 s', '2 h 4 min', '0 ms']);
  expect([16 * 2 ** 30, 15.6 * 2 ** 30, undefined].map(gibibytes)).toEqual(['16 GiB', '15.6 GiB', 'unknown']);
  expect([120e9, 1.5e12, 500e6].map(gigabytes)).toEqual(['120 GB', '1.5 TB', '0.5 GB']);
  expect([1, 4, undefined].map(cores)).toEqual(['1 core', '4 cores', 'unknown']);
  expect([100, 25_000, -1].map(speed)).toEqual(['100 Mbit/s', '25 Gbit/s', 'unknown']);
  expect([plural(1, 'host'), plural(0, 'host')]).toEqual(['1 host', '0 hosts']);
});

describe('routes', () => {
  const routes: Route[] = [
    { screen: 'clusters' },
    { screen: 'create' },
    { screen: 'cluster', cluster: id('1') },
    { screen: 'cluster', cluster: id('1'), step: 'networking' },
    { screen: 'host', cluster: id('1'), infraEnv: id('2'), host: id('3') },
  ];
  test.each(routes)('$screen is read back', route => expect(routeOf(hashOf(route))).toEqual(route));
  test.each(['#/nothing', '#/clusters/x', `#/clusters/${id('1')}/nothing`, `#/clusters/${id('1')}/hosts/x/y`, `#/clusters/${id('1')}/events/x`])('%s is unknown', hash =>
    expect(routeOf(hash).screen).toBe('unknown'),
  );
  test.each(['', '#', '#/', '#/clusters', '#/clusters/'])("'%s' is the list", hash => expect(routeOf(hash).screen).toBe('clusters'));
});

describe('forms', () => {
  test.each([
    [problemOfName, ['demo', 'a', 'a-1'], ['', 'Demo', '-a', 'a-', 'a b', 'x'.repeat(55)]],
    [problemOfDomain, ['example.com', 'lab'], ['', 'example..com', '.com', 'Example.com', 'a_b']],
    [problemOfPullSecret, ['{"auths":{}}', ' {"auths":{"r":{"auth":"x"}}} '], ['', '{', '{}', '{"auths":[]}', '[]', 'null']],
    [problemOfAddress, ['', '192.168.126.100', 'fd00::1'], ['192.168.126', '192.168.126.256', 'api']],
    [problemOfNetwork, ['10.128.0.0/14', 'fd01::/48'], ['', '10.128.0.0', '10.128.0.0/33', 'x/8']],
  ] as [(text: string) => string, string[], string[]][])('%o', (problem, good, bad) => {
    for (const text of good) expect(problem(text), text).toBe('');
    for (const text of bad) expect(problem(text), text).not.toBe('');
  });
  test('the part of a node lies in the network', () => {
    expect(problemOfPrefix('23', '10.128.0.0/14')).toBe('');
    expect(problemOfPrefix('13', '10.128.0.0/14')).toContain('at least 14');
    expect(problemOfPrefix('x', '10.128.0.0/14')).toBe('Enter a number.');
  });
});

describe('names of several hosts', () => {
  test('are numbered', () => {
    expect(namesOf('rack1-{{n}}', 3)).toEqual(['rack1-1', 'rack1-2', 'rack1-3']);
    expect(namesOf('h{{n:9}}', 2)).toEqual(['h9', 'h10']);
  });
  test.each([
    ['', 1, [], 'Enter'],
    ['same', 2, [], '{{n}}'],
    ['Host-{{n}}', 2, [], 'not a host name'],
    ['h{{n}}', 2, ['h2'], 'already'],
    ['one', 1, [], ''],
    ['h{{n}}', 2, ['h3'], ''],
  ] as [string, number, string[], string][])('%s for %i: %s', (pattern, count, taken, text) => {
    const problem = problemOfPattern(pattern, count, taken);
    if (text) expect(problem).toContain(text);
    else expect(problem).toBe('');
  });
});

describe('states', () => {
  test('have words and tones', () => {
    expect(words('installing-pending-user-action')).toBe('Installing pending user action');
    expect([toneOfCluster('installed'), toneOfCluster('error'), toneOfCluster('a new one')]).toEqual(['success', 'danger', 'info']);
  });
  test('hosts are sorted as people count', () => {
    expect(sortedHosts([host('host-10'), host('host-2'), host('a')]).map(each => each.requested_hostname)).toEqual(['a', 'host-2', 'host-10']);
  });
  test('are counted', () => {
    const hosts = [host('h1', { status: 'installed' }), host('h2', { status: 'insufficient' }), host('h3', { role: 'auto-assign', suggested_role: 'worker' })];
    expect(countsOf(hosts)).toEqual({ total: 3, ready: 2, notReady: 1 });
    expect(installedCounts(hosts)).toEqual({ masters: [1, 2], workers: [0, 1] });
  });
});

describe('who waits for whom', () => {
  test('the bootstrap waits for masters that have not joined', () => {
    const hosts = [host('h1', { bootstrap: true, ...inStage('Waiting for control plane') }), host('h2', inStage('Rebooting')), host('h3', inStage('Joined'))];
    expect(waitsOf(cluster(hosts))).toEqual([{ who: 'h1', what: 'h2 (Rebooting)', needsUser: false }]);
  });
  test('a host that booted the wrong medium waits for the user, and says for which disk', () => {
    const lost = host('h2', { ...inStage('Rebooting'), status: 'installing-pending-user-action', status_info: 'it booted the image again', installation_disk_path: '/dev/vda' });
    const [first] = waitsOf(cluster([host('h1', inStage('Waiting for control plane')), lost]));
    expect(first).toEqual({ who: 'h2', what: 'Start h2 from its disk /dev/vda. it booted the image again', needsUser: true });
  });
  test('phases', () => {
    const preparing = cluster([host('h1', { status: 'preparing-for-installation' })], { status: 'preparing-for-installation' });
    expect(waitsOf(preparing)[0]?.what).toBe('checks of h1');
    const generating = cluster([host('h1', { status: 'preparing-successful' })], { status: 'preparing-for-installation' });
    expect(waitsOf(generating)[0]?.what).toContain('Ignition');
    const finalizing = cluster([], { status: 'finalizing', monitored_operators: [{ name: 'dns', version: '', status: 'progressing', status_info: '' }] });
    expect(waitsOf(finalizing)[0]?.what).toBe('operator dns (progressing)');
    expect(waitsOf(cluster([], { status: 'ready' }))).toEqual([]);
  });
});

describe('timeline of an assisted installation', () => {
  const start = Date.parse('2026-11-21T09:30:00Z');
  const event = (second: number, name: string, props: object = {}, host_id?: string): ServiceEvent => ({
    name, severity: 'info', message: name, event_time: new Date(start + second * 1000).toISOString(), props: JSON.stringify(props), ...(host_id ? { host_id } : {}),
  });
  const status = (second: number, new_status: string) => event(second, 'cluster_status_updated', { new_status });
  const stage = (second: number, who: string, name: string) => event(second, 'host_install_progress_updated', { stage: name }, id(who));
  const hosts = [host('h1', { bootstrap: true }), host('h2')];
  const begin = [event(0, 'cluster_prepare_installation_started'), status(0, 'preparing-for-installation'), status(5, 'installing')];
  const stages = [
    stage(6, '1', 'Installing'), stage(6, '2', 'Writing image to disk'), stage(7, '2', 'Writing image to disk'), stage(10, '1', 'Waiting for control plane'),
    stage(12, '2', 'Rebooting'), stage(20, '2', 'Configuring'), stage(30, '2', 'Joined'), stage(31, '1', 'Rebooting'), stage(40, '2', 'Done'), stage(50, '1', 'Done'),
  ];

  test('there is none before the installation', () => expect(timelineOf(cluster(hosts), [], start)).toBeUndefined());

  test('of a complete installation', () => {
    const made = timelineOf(cluster(hosts), [...begin, ...stages, status(50, 'finalizing'), status(60, 'installed')], start + 1e6)!;
    expect([made.is_complete, made.took_ms]).toEqual([true, 60_000]);
    const item = (label: string) => made.items.find(each => each.label === label)!;
    expect([item('h2: Writing image to disk').begin_ms, item('h2: Writing image to disk').end_ms]).toEqual([6000, 12_000]);
    expect(waitText(made, item('h1: Waiting for control plane'))).toBe('h2: Configuring');
    expect(made.critical_path.map(index => made.items[index]!.label)).toEqual([
      'checks of the hosts, Ignition configs', 'h2: Writing image to disk', 'h2: Rebooting', 'h2: Configuring', 'h1: Waiting for control plane', 'h1: Rebooting',
      'operators of the cluster',
    ]);
    expect(groupsOf(made).map(([group]) => group)).toEqual(['demo', 'h1', 'h2']);
    expect(made.items.some(each => each.open || each.failed)).toBe(false);
  });

  test('while it runs, and after a failure', () => {
    const running = timelineOf(cluster(hosts), [...begin, ...stages.slice(0, 5)], start + 15_000)!;
    expect(running.items.filter(each => each.open).map(each => each.label).sort()).toEqual(['h1: Waiting for control plane', 'h2: Rebooting']);
    expect(running.took_ms).toBe(15_000);
    const failed = timelineOf(cluster(hosts), [...begin, ...stages.slice(0, 5), stage(14, '2', 'Failed'), status(15, 'error')], start + 99_000)!;
    expect(failed.items.find(each => each.failed)?.label).toBe('h2: Rebooting');
    expect([failed.is_complete, failed.took_ms]).toEqual([false, 15_000]);
  });

  test('an earlier attempt does not count', () => {
    const again = [...begin, ...stages, status(55, 'cancelled'), event(100, 'cluster_prepare_installation_started'), status(101, 'preparing-for-installation')];
    expect(timelineOf(cluster(hosts), again, start + 103_000)!.items).toHaveLength(1);
  });
});

describe('recorded events', () => {
  const event = (kind: string, name: string, phase: RecordedEvent['phase'], more: Partial<RecordedEvent> = {}): RecordedEvent => ({
    time: '2026-11-21T09:30:00Z', source: 'slipway', kind, name, phase, ...more,
  });
  test('steps: the last report counts', () => {
    const steps = stepsOf([
      event('step', 'assets', 'started', { description: 'assets are generated' }), event('step', 'assets', 'finished'), event('stage', 'render', 'started'),
      event('step', 'machines', 'started'), event('step', 'machines', 'failed'), event('step', 'machines', 'started'),
    ]);
    expect(steps.map(step => [step.description, step.state])).toEqual([['assets are generated', 'done'], ['machines', 'running']]);
  });
  test('failures are errors', () => {
    const [shown] = shownEventsOf([event('stage', 'render', 'failed', { error: { code: 'timeout', message: 'too slow' } })]);
    expect(shown).toMatchObject({ severity: 'error', subject: 'slipway', message: 'stage render: too slow' });
  });
});
