// Events of an installation by `slipway create cluster` (docs/formats/events.md), for `slipway watch`.

import type { ShownEvent } from '../parts/events.tsx';

export interface RecordedEvent {
  time: string;
  source: string;
  kind: string;
  name: string;
  phase: 'started' | 'progress' | 'finished' | 'failed' | 'skipped';
  duration_ms?: number;
  error?: { code: string; message: string };
  description?: string;
}

export interface RunningStep {
  name: string;
  description: string;
  state: 'done' | 'running' | 'failed';
  since: string;
}

// The steps of the installation, in the order in which they began. A command that continues reports its steps again: the last
// report counts.
export function stepsOf(events: RecordedEvent[]): RunningStep[] {
  const steps = new Map<string, RunningStep>();
  for (const event of events) {
    if (event.kind !== 'step') continue;
    const state = event.phase === 'failed' ? 'failed' : event.phase === 'finished' || event.phase === 'skipped' ? 'done' : 'running';
    const before = steps.get(event.name);
    const since = state === 'running' && before?.state === 'running' ? before.since : event.time;
    steps.set(event.name, { name: event.name, description: event.description ?? before?.description ?? event.name, state, since });
  }
  return [...steps.values()];
}

export function shownEventsOf(events: RecordedEvent[]): ShownEvent[] {
  return events.map(event => ({
    time: event.time,
    severity: event.phase === 'failed' ? 'error' : 'info',
    subject: event.source,
    message: `${event.kind} ${event.name}: ${event.error?.message ?? event.description ?? event.phase}`,
  }));
}
