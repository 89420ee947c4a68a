import { Alert, Label, List, ListItem, PageSection, Title } from '@patternfly/react-core';
import { useLive } from '../api/live.ts';
import { useClient } from '../api/session.tsx';
import { shownEventsOf, stepsOf, type RecordedEvent } from '../logic/recorded.ts';
import { waitText, type Timeline as Document } from '../logic/timeline.ts';
import { duration, moment, plural } from '../logic/units.ts';
import { Disconnected, Empty, Loading, Problem } from '../parts/basics.tsx';
import { Events } from '../parts/events.tsx';
import { Mark } from '../parts/gate.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Facts } from './details.tsx';

// The installation of one asset directory, while `slipway create cluster` runs and afterwards.
export function WatchScreen() {
  const client = useClient();
  const live = useLive('/watch/stream', async () => {
    const [timeline, events] = await Promise.all([client.get<Document | null>('/watch/timeline'), client.get<RecordedEvent[]>('/watch/events')]);
    return { timeline, events };
  });
  if (!live.data) {
    return <PageSection isFilled>{live.error ? <Problem title="The installation cannot be shown" problem={live.error} /> : <Loading what="the installation" />}</PageSection>;
  }
  const { timeline, events } = live.data;
  const steps = stepsOf(events);
  const failed = steps.some(step => step.state === 'failed');
  const open = timeline?.items.filter(item => item.open) ?? [];
  const broken = timeline?.items.filter(item => item.failed) ?? [];
  const name = timeline?.cluster ? `Cluster ${timeline.cluster}` : 'Installation';
  return (
    <PageSection isFilled>
      <div className="stack">
        <div className="title-row">
          <div>
            <Title headingLevel="h1">{name}</Title>
            {timeline && <Label status={timeline.is_complete ? 'success' : failed ? 'danger' : 'info'}>{timeline.is_complete ? 'Installed' : failed ? 'Failed' : 'Installing'}</Label>}
          </div>
        </div>
        <Disconnected isConnected={live.isConnected} />
        {!timeline && <Empty title="The installation has not begun">Run slipway create cluster with the same --dir. This page then follows it by itself.</Empty>}
        {timeline && (
          <>
            <Facts
              facts={[
                ['Started', moment(timeline.start)],
                [timeline.is_complete ? 'Took' : 'Until the last event', duration(timeline.took_ms)],
                ['Last event', moment(events[events.length - 1]?.time)],
                ['Steps', `${steps.filter(step => step.state === 'done').length} of ${plural(steps.length, 'step')} done`],
              ]}
            />
            {broken.length > 0 && (
              <Alert variant="danger" isInline component="h2" title="Failed">
                <List>
                  {broken.map((item, index) => (
                    <ListItem key={item.key + index}>
                      {item.label}: {item.detail}
                    </ListItem>
                  ))}
                </List>
              </Alert>
            )}
            <section aria-labelledby="steps-title" className="stack">
              <Title headingLevel="h2" id="steps-title">
                Steps
              </Title>
              <List isPlain>
                {steps.map(step => (
                  <ListItem key={step.name}>
                    <Mark tone={step.state === 'done' ? 'success' : step.state === 'failed' ? 'danger' : 'info'} text={step.state} /> {step.description}
                  </ListItem>
                ))}
              </List>
            </section>
            {open.length > 0 && (
              <section aria-labelledby="waits-title" className="stack">
                <Title headingLevel="h2" id="waits-title">
                  Not finished at the last event
                </Title>
                <List>
                  {open.map((item, index) => (
                    <ListItem key={item.key + index}>
                      {item.label}, for {duration(timeline.took_ms - item.begin_ms)}
                      {item.detail && `: ${item.detail}`}
                      {waitText(timeline, item) && ` (began after: ${waitText(timeline, item)})`}
                    </ListItem>
                  ))}
                </List>
              </section>
            )}
            <section aria-labelledby="timeline-title" className="stack">
              <Title headingLevel="h2" id="timeline-title">
                Timeline
              </Title>
              <Timeline timeline={timeline} />
            </section>
          </>
        )}
        {events.length > 0 && (
          <section aria-labelledby="events-title" className="stack">
            <Title headingLevel="h2" id="events-title">
              Events
            </Title>
            <Events events={shownEventsOf(events)} />
          </section>
        )}
      </div>
    </PageSection>
  );
}
