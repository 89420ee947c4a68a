import { Breadcrumb, BreadcrumbItem, PageSection, Title } from '@patternfly/react-core';
import { prefix } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster, Gate, InfraEnv, ServiceEvent } from '../api/types.ts';
import { hashOf, type Step } from '../logic/route.ts';
import { isInstalling, mayChange, nameOf, sortedHosts } from '../logic/states.ts';
import { ClusterStatus, Disconnected, Empty, Loading, Problem } from '../parts/basics.tsx';
import { Events } from '../parts/events.tsx';
import { gatedSteps, GateFooter, Mark } from '../parts/gate.tsx';
import { DetailsStep } from './details.tsx';
import { HostsStep } from './hosts.tsx';
import { InstallationStep } from './installation.tsx';
import { NetworkingStep } from './networking.tsx';
import { ReviewStep } from './review.tsx';
import { StorageStep } from './storage.tsx';

export interface Seen {
  cluster: Cluster;
  gates: Gate[];
  infraEnvs: InfraEnv[];
  events: ServiceEvent[];
}

export interface StepProps {
  seen: Seen;
  reload: () => void;
}

function Steps({ seen, current }: { seen: Seen; current: Step }) {
  const { cluster, gates } = seen;
  const link = (step: Step) => hashOf({ screen: 'cluster', cluster: cluster.id, step });
  const isLater = cluster.kind === 'AddHostsCluster';
  const item = (step: Step, title: string, gate?: Gate) => (
    <li key={step}>
      <a href={link(step)} aria-current={step === current ? 'page' : undefined}>
        {title}
        {gate && mayChange(cluster) && !isLater && (
          <Mark tone={gate.is_open ? 'success' : 'info'} text={gate.is_open ? 'done' : `${gate.problems.length} open`} />
        )}
      </a>
    </li>
  );
  return (
    <nav aria-label="Steps of the installation">
      <ol className="steps">
        {gatedSteps.map(each => item(each.step, each.title, gates.find(gate => gate.step === each.gate)))}
        {item('installation', 'Installation')}
        {item('events', 'Events')}
      </ol>
    </nav>
  );
}

function shownEvents(seen: Seen) {
  const names = new Map(seen.cluster.hosts.map(host => [host.id, nameOf(host)]));
  return seen.events.map(event => ({
    time: event.event_time,
    severity: event.severity,
    subject: event.host_id ? (names.get(event.host_id) ?? 'a deleted host') : seen.cluster.name,
    message: event.message,
  }));
}

export function ClusterScreen({ id, step }: { id: string; step: Step | undefined }) {
  const client = useClient();
  const live = useLive(`${prefix}/events/stream?cluster_id=${id}&changes=true`, async (): Promise<Seen> => {
    const [cluster, gates, infraEnvs, events] = await Promise.all([
      client.get<Cluster>(`${prefix}/clusters/${id}`),
      client.get<Gate[]>(`${prefix}/clusters/${id}/gates`),
      client.get<InfraEnv[]>(`${prefix}/infra-envs?cluster_id=${id}`),
      client.get<ServiceEvent[]>(`${prefix}/events?cluster_id=${id}`),
    ]);
    return { cluster: { ...cluster, hosts: sortedHosts(cluster.hosts) }, gates, infraEnvs, events };
  });
  const seen = live.data;
  if (!seen) {
    return (
      <PageSection isFilled>
        {live.error ? (
          <Empty title="This cluster cannot be shown" actions={<a href="#/clusters">Show all clusters</a>}>
            {live.error.message}
          </Empty>
        ) : (
          <Loading what="the cluster" />
        )}
      </PageSection>
    );
  }
  const { cluster } = seen;
  const isOver = !mayChange(cluster) || cluster.status === 'adding-hosts';
  const current = step ?? (isInstalling(cluster) || !mayChange(cluster) ? 'installation' : cluster.hosts.length > 0 ? 'review' : 'hosts');
  const props: StepProps = { seen, reload: live.reload };
  return (
    <PageSection isFilled>
      <div className="stack">
        <Breadcrumb>
          <BreadcrumbItem to="#/clusters">Clusters</BreadcrumbItem>
          <BreadcrumbItem isActive>{cluster.name}</BreadcrumbItem>
        </Breadcrumb>
        <div className="title-row">
          <div>
            <Title headingLevel="h1">{cluster.name}</Title>
            <ClusterStatus status={cluster.status} />
          </div>
        </div>
        <p role="status">{cluster.status_info}</p>
        <Disconnected isConnected={live.isConnected} />
        <Problem title="The page cannot be brought up to date" problem={live.error} />
        <Steps seen={seen} current={current} />
        {current === 'details' && <DetailsStep {...props} />}
        {current === 'hosts' && <HostsStep {...props} />}
        {current === 'storage' && <StorageStep {...props} />}
        {current === 'networking' && <NetworkingStep {...props} />}
        {current === 'review' && <ReviewStep {...props} />}
        {current === 'installation' && <InstallationStep {...props} />}
        {current === 'events' && <Events events={shownEvents(seen)} />}
        {!isOver && <GateFooter cluster={cluster} gates={seen.gates} step={current} />}
      </div>
    </PageSection>
  );
}
