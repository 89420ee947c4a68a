// Timelines: the document of `slipway timeline --output json` (docs/formats/timeline.md), and the same made from the events of an
// assisted installation.

import type { Cluster, ServiceEvent } from '../api/types.ts';
import { nameOf } from './states.ts';

export interface TimelineItem {
  key: string;
  label: string;
  detail?: string;
  group: string;
  begin_ms: number;
  end_ms: number;
  waited_for?: number;
  critical?: boolean;
  failed?: boolean;
  open?: boolean;
}

export interface Timeline {
  cluster?: string;
  start: string;
  took_ms: number;
  is_complete: boolean;
  items: TimelineItem[];
  critical_path: number[];
}

interface Span {
  item: TimelineItem;
  needs: Span[];
}

const waiting = 'Waiting for control plane';

function newStatusOf(event: ServiceEvent): string {
  try {
    return (JSON.parse(event.props ?? '{}') as { new_status?: string }).new_status ?? '';
  } catch {
    return '';
  }
}

function stageOf(event: ServiceEvent): string {
  try {
    return (JSON.parse(event.props ?? '{}') as { stage?: string }).stage ?? '';
  } catch {
    return '';
  }
}

// The last attempt to install the cluster; undefined if there was none. now: milliseconds since 1970, where what is open ends
export function timelineOf(cluster: Cluster, events: ServiceEvent[], now: number): Timeline | undefined {
  const begins = events.filter(event => event.name === 'cluster_prepare_installation_started');
  if (begins.length === 0) return undefined;
  const start = Date.parse(begins[begins.length - 1]!.event_time);
  const at = (event: ServiceEvent) => Date.parse(event.event_time) - start;
  const ours = events.filter(event => at(event) >= 0);
  const statuses = ours.filter(event => event.name === 'cluster_status_updated');
  const when = (status: string) => statuses.find(event => newStatusOf(event) === status);
  const ended = statuses.find(event => ['installed', 'error', 'cancelled'].includes(newStatusOf(event)));
  const end = ended ? at(ended) : Math.max(now - start, 0);
  const spans: Span[] = [];
  const span = (key: string, label: string, group: string, begin: number, until: number | undefined, needs: Span[]): Span => {
    const made: Span = { item: { key, label, group, begin_ms: begin, end_ms: until ?? end, ...(until === undefined && !ended ? { open: true } : {}) }, needs };
    spans.push(made);
    return made;
  };

  const installing = when('installing'), finalizing = when('finalizing'), installed = when('installed');
  const preparation = span('preparation', 'checks of the hosts, Ignition configs', cluster.name, 0, installing && at(installing), []);
  const lasts: Span[] = [], masters: Span[] = [], waits: Span[] = [];
  for (const host of cluster.hosts) {
    const reports = ours.filter(event => event.name === 'host_install_progress_updated' && event.host_id === host.id);
    const firsts = reports.filter((event, index) => index === 0 || stageOf(event) !== stageOf(reports[index - 1]!));
    let before = preparation;
    firsts.forEach((event, index) => {
      const stage = stageOf(event), next = firsts[index + 1];
      if (stage === 'Done') return;
      if (stage === 'Failed') {
        before.item.failed = true;
        before.item.detail = event.message;
        return;
      }
      const made = span(`stage ${host.id} ${stage}`, `${nameOf(host)}: ${stage}`, nameOf(host), at(event), next && at(next), [before]);
      if (stage === waiting) waits.push(made);
      if (stage === 'Configuring' && host.role === 'master') masters.push(made);
      before = made;
    });
    if (before !== preparation) lasts.push(before);
  }
  // Hosts that wait for the control plane go on when masters have joined.
  for (const each of waits) each.needs.push(...masters.filter(master => master.item.end_ms <= each.item.end_ms && master.item.group !== each.item.group));
  if (finalizing) span('finalizing', 'operators of the cluster', cluster.name, at(finalizing), installed && at(installed), lasts);
  if (ended && !installed) spans[spans.length - 1]!.item.failed = true;

  spans.sort((a, b) => a.item.end_ms - b.item.end_ms || a.item.begin_ms - b.item.begin_ms);
  spans.forEach(each => {
    const last = each.needs.reduce<Span | undefined>((most, need) => (!most || need.item.end_ms >= most.item.end_ms ? need : most), undefined);
    if (last) each.item.waited_for = spans.indexOf(last);
  });
  const path: number[] = [];
  for (let index: number | undefined = spans.length - 1; index !== undefined && !path.includes(index); index = spans[index]!.item.waited_for) path.unshift(index);
  path.forEach(index => (spans[index]!.item.critical = true));
  return {
    cluster: cluster.name,
    start: new Date(start).toISOString(),
    took_ms: end,
    is_complete: installed !== undefined,
    items: spans.map(each => each.item),
    critical_path: path,
  };
}

// What an item waited for, and how long it took after that.
export function waitText(timeline: Timeline, item: TimelineItem): string {
  const before = item.waited_for === undefined ? undefined : timeline.items[item.waited_for];
  return before ? before.label : '';
}

// Items by group, in the order in which the groups began.
export function groupsOf(timeline: Timeline): [group: string, items: TimelineItem[]][] {
  const groups = new Map<string, TimelineItem[]>();
  for (const item of [...timeline.items].sort((a, b) => a.begin_ms - b.begin_ms)) {
    groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
  }
  return [...groups];
}
