import { useEffect, useState } from 'react';
import { Alert, Button, List, ListItem, Progress, ProgressMeasureLocation, Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { prefix, Refused } from '../api/client.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster, Host } from '../api/types.ts';
import { hashOf } from '../logic/route.ts';
import { hasCredentials, installedCounts, isInstalling, mayReset, nameOf, roleText, waitsOf } from '../logic/states.ts';
import { timelineOf } from '../logic/timeline.ts';
import { duration, moment, plural } from '../logic/units.ts';
import { Confirm, Empty, HostStatus, Problem } from '../parts/basics.tsx';
import { Mark } from '../parts/gate.tsx';
import { Timeline } from '../parts/timeline.tsx';
import type { StepProps } from './cluster.tsx';
import { Facts } from './details.tsx';

// The time, once a second while something runs.
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

function Bars({ cluster }: { cluster: Cluster }) {
  const { progress } = cluster;
  const phases: [string, number][] = [
    ['Preparation', progress.preparing_for_installation_stage_percentage],
    ['Hosts', progress.installing_stage_percentage],
    ['Operators', progress.finalizing_stage_percentage],
  ];
  return (
    <div className="stack">
      <Progress title="Whole installation" value={progress.total_percentage} measureLocation={ProgressMeasureLocation.top} {...(cluster.status === 'error' ? { variant: 'danger' as const } : cluster.status === 'installed' ? { variant: 'success' as const } : {})} />
      <div className="cards">
        {phases.map(([title, value]) => <Progress key={title} size="sm" title={title} value={value} />)}
      </div>
    </div>
  );
}

function HostRows({ cluster, now }: { cluster: Cluster; now: number }) {
  const percent = (host: Host) => (host.status === 'installed' ? 100 : (host.progress?.installation_percentage ?? 0));
  return (
    <Table aria-label="Installation of the hosts" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th>Host</Th>
          <Th>Role</Th>
          <Th>Status</Th>
          <Th>Stage</Th>
          <Th>Time in stage</Th>
          <Th width={20}>Progress</Th>
        </Tr>
      </Thead>
      <Tbody>
        {cluster.hosts.map(host => {
          const stage = host.progress?.current_stage ?? '';
          const index = host.progress_stages?.indexOf(stage) ?? -1;
          const since = host.progress?.stage_started_at;
          const isOver = ['installed', 'error', 'cancelled'].includes(host.status);
          return (
            <Tr key={host.id}>
              <Td dataLabel="Host" className="break">
                <a href={hashOf({ screen: 'host', cluster: cluster.id, infraEnv: host.infra_env_id, host: host.id })}>{nameOf(host)}</a>
              </Td>
              <Td dataLabel="Role">{roleText(host)}</Td>
              <Td dataLabel="Status">
                <HostStatus status={host.status} />
                <small className="reason">{host.status_info}</small>
              </Td>
              <Td dataLabel="Stage">
                {stage || 'none yet'}
                {index >= 0 && ` (${index + 1} of ${host.progress_stages?.length})`}
                {host.progress?.progress_info && <small className="reason">{host.progress.progress_info}</small>}
              </Td>
              <Td dataLabel="Time in stage">{since && !isOver ? duration(now - Date.parse(since)) : isOver ? 'ended' : 'not started'}</Td>
              <Td dataLabel="Progress">
                <Progress size="sm" aria-label={`Progress of ${nameOf(host)}`} value={percent(host)} {...(host.status === 'error' ? { variant: 'danger' as const } : {})} />
              </Td>
            </Tr>
          );
        })}
      </Tbody>
    </Table>
  );
}

function Result({ cluster }: { cluster: Cluster }) {
  const client = useClient();
  const [problem, setProblem] = useState<Refused>();
  const [password, setPassword] = useState<string>();
  const base = `${prefix}/clusters/${cluster.id}`;
  const run = (work: Promise<unknown>) => void work.then(() => setProblem(undefined), (why: unknown) => setProblem(why as Refused));
  const reveal = () => run(client.get<{ password: string }>(`${base}/credentials`).then(found => setPassword(found.password)));
  const kubeconfig = cluster.status === 'installed' ? 'kubeconfig' : 'kubeconfig-noingress';
  return (
    <section className="stack" aria-labelledby="access-title">
      <Title headingLevel="h3" id="access-title">
        Access
      </Title>
      <Facts
        facts={[
          ['API', `https://api.${cluster.name}.${cluster.base_dns_domain}:6443`],
          [
            'kubeadmin password',
            password ?? (
              <Button key="show" variant="link" isInline onClick={reveal}>
                Show the password
              </Button>
            ),
          ],
        ]}
      />
      <div className="title-row">
        <div>
          <Button variant="secondary" onClick={() => run(client.download(`${base}/downloads/credentials?file_name=${kubeconfig}`, `kubeconfig-${cluster.name}`))}>
            Download kubeconfig
          </Button>
          <Button variant="secondary" onClick={() => run(client.download(`${base}/downloads/files?file_name=install-config.yaml`, 'install-config.yaml'))}>
            Download install-config.yaml
          </Button>
        </div>
      </div>
      <Problem title="The service did not give this" problem={problem} />
    </section>
  );
}

function Logs({ cluster }: { cluster: Cluster }) {
  const client = useClient();
  const [problem, setProblem] = useState<Refused>();
  const base = `${prefix}/clusters/${cluster.id}/logs`;
  const sources = [
    ...cluster.hosts.filter(host => host.logs_collected_at).map(host => ({ name: nameOf(host), at: host.logs_collected_at, query: `logs_type=host&host_id=${host.id}` })),
    ...(cluster.controller_logs_collected_at ? [{ name: 'controller', at: cluster.controller_logs_collected_at, query: 'logs_type=controller' }] : []),
  ];
  return (
    <section className="stack" aria-labelledby="logs-title">
      <Title headingLevel="h3" id="logs-title">
        Logs
      </Title>
      {sources.length === 0 && <p>No logs yet. Hosts send their logs when they restart or fail.</p>}
      <List isPlain>
        {sources.map(source => (
          <ListItem key={source.query}>
            <Button variant="link" isInline onClick={() => void client.download(`${base}?${source.query}`, `${source.name}.tar.gz`).then(() => setProblem(undefined), (why: unknown) => setProblem(why as Refused))}>
              Download the logs of {source.name}
            </Button>{' '}
            (sent {moment(source.at)})
          </ListItem>
        ))}
      </List>
      <Problem title="The logs were not downloaded" problem={problem} />
    </section>
  );
}

export function InstallationStep({ seen, reload }: StepProps) {
  const client = useClient();
  const [asking, setAsking] = useState<'cancel' | 'reset' | 'add'>();
  const { cluster, events } = seen;
  const isRunning = isInstalling(cluster);
  const now = useNow(isRunning);
  const timeline = timelineOf(cluster, events, now);
  const act = (action: string) => () => client.call('POST', `${prefix}/clusters/${cluster.id}/actions/${action}`).then(reload);
  const close = () => setAsking(undefined);
  if (!isRunning && !timeline) {
    const review = hashOf({ screen: 'cluster', cluster: cluster.id, step: 'review' });
    return (
      <Empty title="The installation has not begun" actions={<a href={review}>Go to the review</a>}>
        Start it on the step Review, as soon as all checks pass.
      </Empty>
    );
  }
  const waits = waitsOf(cluster), urgent = waits.filter(wait => wait.needsUser);
  const { masters, workers } = installedCounts(cluster.hosts);
  const started = cluster.install_started_at;
  const until = cluster.install_completed_at ? Date.parse(cluster.install_completed_at) : now;
  const firstError = events.find(event => ['error', 'critical'].includes(event.severity) && (!started || event.event_time >= started));
  return (
    <div className="stack">
      <div className="title-row">
        <Title headingLevel="h2">Installation</Title>
        <div>
          {isRunning && <Button variant="secondary" isDanger onClick={() => setAsking('cancel')}>Cancel the installation</Button>}
          {mayReset(cluster) && <Button variant="secondary" isDanger onClick={() => setAsking('reset')}>Begin again</Button>}
          {cluster.status === 'installed' && <Button variant="secondary" onClick={() => setAsking('add')}>Add hosts to the cluster</Button>}
        </div>
      </div>
      {urgent.map(wait => (
        <Alert key={wait.who} variant="warning" isInline component="h3" title={`${wait.who} waits for you`}>
          {wait.what}
        </Alert>
      ))}
      {cluster.status === 'error' && (
        <Alert variant="danger" isInline component="h3" title="The installation failed">
          {cluster.status_info}. {firstError && `The first error: ${firstError.message}. `}Download the logs of the hosts below before you begin again.
        </Alert>
      )}
      <Bars cluster={cluster} />
      <Facts
        facts={[
          ['Started', moment(started)],
          ['Took', started ? duration(until - Date.parse(started)) : 'not started'],
          ['Control plane', `${masters[0]} of ${plural(masters[1], 'host')} installed`],
          ['Workers', `${workers[0]} of ${plural(workers[1], 'host')} installed`],
          ...(cluster.progress.finalizing_stage ? [['Finalizing', cluster.progress.finalizing_stage] as [string, string]] : []),
        ]}
      />
      {waits.length > urgent.length && (
        <section aria-labelledby="waits-title">
          <Title headingLevel="h3" id="waits-title">
            Who waits for whom
          </Title>
          <List>
            {waits.filter(wait => !wait.needsUser).map(wait => (
              <ListItem key={wait.who}>
                {wait.who} waits for {wait.what}
              </ListItem>
            ))}
          </List>
        </section>
      )}
      <HostRows cluster={cluster} now={now} />
      {cluster.monitored_operators.length > 0 && (
        <Table aria-label="Operators" variant="compact" gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              <Th>Operator</Th>
              <Th>Version</Th>
              <Th>Status</Th>
            </Tr>
          </Thead>
          <Tbody>
            {cluster.monitored_operators.map(each => (
              <Tr key={each.name}>
                <Td dataLabel="Operator">{each.name}</Td>
                <Td dataLabel="Version">{each.version || 'unknown'}</Td>
                <Td dataLabel="Status">
                  <Mark tone={each.status === 'available' ? 'success' : each.status === 'failed' ? 'danger' : 'info'} text={each.status} /> {each.status_info}
                </Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      )}
      {hasCredentials(cluster) && <Result cluster={cluster} />}
      <section className="stack" aria-labelledby="timeline-title">
        <Title headingLevel="h3" id="timeline-title">
          Timeline
        </Title>
        <Timeline timeline={timeline} />
      </section>
      <Logs cluster={cluster} />
      {asking === 'cancel' && (
        <Confirm title="Cancel the installation?" action="Cancel the installation" run={act('cancel')} onClose={close}>
          The hosts stop. Disks that were erased stay erased, and what is installed so far is of no use. You can begin again afterwards.
        </Confirm>
      )}
      {asking === 'reset' && (
        <Confirm title="Begin again?" action="Begin again" run={act('reset')} onClose={close}>
          The progress, the generated configs and the kubeconfig of this attempt are lost. Boot the hosts from the discovery image again afterwards.
        </Confirm>
      )}
      {asking === 'add' && (
        <Confirm title="Add hosts to the cluster?" action="Add hosts" isDanger={false} run={act('allow-add-hosts')} onClose={close}>
          The service forgets the hosts that are installed: they are nodes of the cluster now, and the cluster lists them. Hosts that report themselves from
          now on can join the cluster.
        </Confirm>
      )}
    </div>
  );
}
