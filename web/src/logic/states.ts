// What states of clusters and hosts mean for the page. Which step may follow which is said by the gates of the service alone.

import type { Cluster, Host } from '../api/types.ts';

export type Tone = 'info' | 'success' | 'warning' | 'danger';

const clusterTones: Record<string, Tone> = {
  ready: 'success',
  installed: 'success',
  'adding-hosts': 'success',
  insufficient: 'warning',
  'pending-for-input': 'warning',
  'installing-pending-user-action': 'warning',
  cancelled: 'warning',
  error: 'danger',
};

const hostTones: Record<string, Tone> = {
  known: 'success',
  'known-unbound': 'success',
  installed: 'success',
  'added-to-existing-cluster': 'success',
  'preparing-successful': 'success',
  insufficient: 'warning',
  'insufficient-unbound': 'warning',
  'pending-for-input': 'warning',
  'installing-pending-user-action': 'warning',
  'resetting-pending-user-action': 'warning',
  'unbinding-pending-user-action': 'warning',
  cancelled: 'warning',
  disconnected: 'danger',
  'disconnected-unbound': 'danger',
  'preparing-failed': 'danger',
  error: 'danger',
};

export const toneOfCluster = (status: string): Tone => clusterTones[status] ?? 'info';
export const toneOfHost = (status: string): Tone => hostTones[status] ?? 'info';

// "installing-in-progress" → "Installing in progress"
export function words(status: string): string {
  const text = status.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const beforeInstallation = ['insufficient', 'pending-for-input', 'ready', 'adding-hosts'];
const installing = ['preparing-for-installation', 'installing', 'installing-pending-user-action', 'finalizing'];

export const mayChange = (cluster: Cluster) => beforeInstallation.includes(cluster.status);
export const isInstalling = (cluster: Cluster) => installing.includes(cluster.status);
export const mayReset = (cluster: Cluster) => ['error', 'cancelled'].includes(cluster.status);
// Files with credentials exist as soon as the installation was prepared.
export const hasCredentials = (cluster: Cluster) =>
  ['installing', 'installing-pending-user-action', 'finalizing', 'installed', 'adding-hosts'].includes(cluster.status);

export const nameOf = (host: Host) => host.requested_hostname || host.id.slice(0, 8);
// host-2 comes before host-10.
export const sortedHosts = (hosts: Host[]) =>
  [...hosts].sort((a, b) => nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true }) || a.id.localeCompare(b.id));

export const roleOf = (host: Host) => (host.role === 'auto-assign' ? host.suggested_role : host.role);

export function roleText(host: Host): string {
  const role = roleOf(host);
  const text = role === 'master' ? 'Control plane' : role === 'worker' ? 'Worker' : 'Not assigned yet';
  return host.bootstrap ? `${text}, bootstrap` : text;
}

export interface Counts {
  total: number;
  ready: number;
  notReady: number;
}

export function countsOf(hosts: Host[]): Counts {
  const ready = hosts.filter(host => ['known', 'installed', 'added-to-existing-cluster'].includes(host.status)).length;
  return { total: hosts.length, ready, notReady: hosts.length - ready };
}

export function installedCounts(hosts: Host[]): { masters: [number, number]; workers: [number, number] } {
  const count = (role: string): [number, number] => {
    const all = hosts.filter(host => roleOf(host) === role);
    return [all.filter(host => host.status === 'installed').length, all.length];
  };
  return { masters: count('master'), workers: count('worker') };
}

// A wait of the installation.
export interface Wait {
  who: string;
  what: string; // it waits for; if it needs the user: a sentence that says what to do
  needsUser: boolean;
}

const joined = ['Joined', 'Done'];

// What keeps the installation from going on, the most urgent first.
export function waitsOf(cluster: Cluster): Wait[] {
  const waits: Wait[] = [];
  const masters = cluster.hosts.filter(host => roleOf(host) === 'master');
  const stage = (host: Host) => host.progress?.current_stage ?? '';
  const list = (hosts: Host[]) => hosts.map(host => `${nameOf(host)} (${stage(host) || words(host.status)})`).join(', ');
  for (const host of cluster.hosts) {
    if (host.status === 'installing-pending-user-action') {
      const disk = host.installation_disk_path ? `Start ${nameOf(host)} from its disk ${host.installation_disk_path}. ` : '';
      waits.unshift({ who: nameOf(host), what: `${disk}${host.status_info}`, needsUser: true });
    } else if (host.status === 'resetting-pending-user-action') {
      waits.unshift({ who: nameOf(host), what: `Start ${nameOf(host)} from the discovery image again.`, needsUser: true });
    } else if (host.status === 'installing-in-progress' && stage(host) === 'Waiting for control plane') {
      const needed = masters.filter(other => other.id !== host.id && !joined.includes(stage(other)));
      if (needed.length > 0) waits.push({ who: nameOf(host), what: list(needed), needsUser: false });
    }
  }
  if (cluster.status === 'preparing-for-installation') {
    const unprepared = cluster.hosts.filter(host => host.status === 'preparing-for-installation');
    if (unprepared.length > 0) waits.push({ who: cluster.name, what: `checks of ${unprepared.map(nameOf).join(', ')}`, needsUser: false });
    else waits.push({ who: cluster.name, what: 'the Ignition configs, which the service generates', needsUser: false });
  }
  if (cluster.status === 'finalizing') {
    const missing = cluster.monitored_operators.filter(each => each.status !== 'available');
    const what = missing.length > 0 ? missing.map(each => `operator ${each.name} (${each.status})`).join(', ') : 'the controller in the cluster';
    waits.push({ who: cluster.name, what, needsUser: false });
  }
  return waits;
}
