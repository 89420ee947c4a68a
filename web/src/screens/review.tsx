import { useState } from 'react';
import { Alert, Button, List, ListItem, Title } from '@patternfly/react-core';
import { prefix } from '../api/client.ts';
import { validationsOf } from '../api/parse.ts';
import { useClient } from '../api/session.tsx';
import { hashOf } from '../logic/route.ts';
import { mayChange, nameOf, roleOf, roleText } from '../logic/states.ts';
import { plural } from '../logic/units.ts';
import { Confirm } from '../parts/basics.tsx';
import { Checks, gatedSteps, ProblemList } from '../parts/gate.tsx';
import type { StepProps } from './cluster.tsx';
import { Facts } from './details.tsx';
import { diskOf, diskText } from './storage.tsx';

export function ReviewStep({ seen, reload }: StepProps) {
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const { cluster, gates } = seen;
  const gate = gates.find(each => each.step === 'review');
  const count = (role: string) => cluster.hosts.filter(host => roleOf(host) === role).length;
  const isSingleNode = cluster.control_plane_count === 1;
  const isOpen = gate?.is_open === true && cluster.status === 'ready';
  const install = async () => {
    await client.call('POST', `${prefix}/clusters/${cluster.id}/actions/install`);
    location.hash = hashOf({ screen: 'cluster', cluster: cluster.id, step: 'installation' });
    reload();
  };
  const failed = cluster['last-installation-preparation'];
  return (
    <section className="stack" aria-labelledby="review-title">
      <Title headingLevel="h2" id="review-title">
        Review and install
      </Title>
      {failed?.status === 'failed' && (
        <Alert variant="danger" isInline component="p" title="The last preparation of the installation failed">
          {failed.reason}
        </Alert>
      )}
      <Facts
        facts={[
          ['Cluster', `${cluster.name}.${cluster.base_dns_domain ?? ''}`],
          ['Version', cluster.openshift_version],
          ['Control plane', `${count('master')} of ${plural(cluster.control_plane_count, 'host')}`],
          ['Workers', plural(count('worker'), 'host')],
          ['Address of the API', isSingleNode ? 'the node' : cluster.api_vips?.map(each => each.ip).join(', ') || 'your load balancer'],
          ['Address of applications', isSingleNode ? 'the node' : cluster.ingress_vips?.map(each => each.ip).join(', ') || 'your load balancer'],
          ['Machine network', cluster.machine_networks.map(each => each.cidr).join(', ') || 'not known yet'],
        ]}
      />
      {gatedSteps
        .filter(each => each.gate !== 'review')
        .map(each => {
          const found = gates.find(one => one.step === each.gate);
          if (!found || found.is_open) return null;
          return (
            <Alert key={each.step} variant="info" isInline component="h3" title={`${each.title}: ${plural(found.problems.length, 'open point')}`} actionLinks={<a href={hashOf({ screen: 'cluster', cluster: cluster.id, step: each.step })}>Go to {each.title.toLowerCase()}</a>}>
              <ProblemList cluster={cluster} problems={found.problems} />
            </Alert>
          );
        })}
      {gate && gate.warnings.length > 0 && (
        <Alert variant="warning" isInline component="h3" title="Warnings: they do not stop you">
          <ProblemList cluster={cluster} problems={gate.warnings} />
        </Alert>
      )}
      <div>
        <Button isDisabled={!isOpen || !mayChange(cluster)} onClick={() => setAsking(true)} aria-describedby="install-reason">
          Install cluster
        </Button>
        <p id="install-reason" className="reason">
          {isOpen
            ? 'All checks passed.'
            : mayChange(cluster)
              ? `Not possible yet: ${gate && gate.problems.length > 0 ? `${plural(gate.problems.length, 'check')} did not pass.` : cluster.status_info}`
              : `The cluster is ${cluster.status.replaceAll('-', ' ')}.`}
        </p>
      </div>
      <details>
        <summary>All checks</summary>
        <div className="cards">
          <section>
            <h2>Cluster</h2>
            <Checks groups={validationsOf(cluster)} />
          </section>
          {cluster.hosts.map(host => (
            <section key={host.id}>
              <h2>{nameOf(host)}</h2>
              <Checks groups={validationsOf(host)} />
            </section>
          ))}
        </div>
      </details>
      {isAsking && (
        <Confirm title={`Install cluster ${cluster.name}?`} action="Erase the disks and install" run={install} onClose={() => setAsking(false)}>
          <p>Everything on these disks is lost:</p>
          <List>
            {cluster.hosts.map(host => {
              const disk = diskOf(host);
              return (
                <ListItem key={host.id}>
                  {nameOf(host)} ({roleText(host).toLowerCase()}): {disk ? diskText(disk) : host.installation_disk_path}
                </ListItem>
              );
            })}
          </List>
        </Confirm>
      )}
    </section>
  );
}
