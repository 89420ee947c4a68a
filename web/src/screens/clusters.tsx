import { useState } from 'react';
import { Button, PageSection, Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { prefix } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster } from '../api/types.ts';
import { hashOf } from '../logic/route.ts';
import { isInstalling } from '../logic/states.ts';
import { moment, plural } from '../logic/units.ts';
import { ClusterStatus, Confirm, Disconnected, Empty, Loading, Problem } from '../parts/basics.tsx';

const createLink = (
  <Button component="a" href={hashOf({ screen: 'create' })}>
    Create cluster
  </Button>
);

export function ClustersScreen() {
  const client = useClient();
  const live = useLive(`${prefix}/events/stream?changes=true`, () => client.get<Cluster[]>(`${prefix}/clusters`));
  const [doomed, setDoomed] = useState<Cluster>();
  const clusters = live.data;
  return (
    <PageSection isFilled>
      <div className="stack">
        <div className="title-row">
          <Title headingLevel="h1">Clusters</Title>
          {clusters && clusters.length > 0 && createLink}
        </div>
        <Disconnected isConnected={live.isConnected} />
        <Problem title="The clusters cannot be listed" problem={live.error} />
        {!clusters && !live.error && <Loading what="clusters" />}
        {clusters?.length === 0 && (
          <Empty title="No clusters yet" actions={createLink}>
            Create a cluster here, then boot your machines from its discovery image. The machines report themselves to this page.
          </Empty>
        )}
        {clusters && clusters.length > 0 && (
          <Table aria-label="Clusters" gridBreakPoint="grid-lg">
            <Thead>
              <Tr>
                <Th>Name</Th>
                <Th>Base domain</Th>
                <Th>Version</Th>
                <Th>Status</Th>
                <Th>Hosts</Th>
                <Th>Created</Th>
                <Th screenReaderText="Actions" />
              </Tr>
            </Thead>
            <Tbody>
              {clusters.map(cluster => (
                <Tr key={cluster.id}>
                  <Td dataLabel="Name">
                    <a href={hashOf({ screen: 'cluster', cluster: cluster.id })}>{cluster.name}</a>
                  </Td>
                  <Td dataLabel="Base domain">{cluster.base_dns_domain || 'not set'}</Td>
                  <Td dataLabel="Version">{cluster.openshift_version}</Td>
                  <Td dataLabel="Status">
                    <ClusterStatus status={cluster.status} />
                  </Td>
                  <Td dataLabel="Hosts">
                    {plural(cluster.total_host_count, 'host')}, {cluster.ready_host_count} ready
                  </Td>
                  <Td dataLabel="Created">{moment(cluster.created_at)}</Td>
                  <Td dataLabel="Actions">
                    <Button
                      variant="link"
                      isDanger
                      isInline
                      isDisabled={isInstalling(cluster)}
                      aria-label={`Delete cluster ${cluster.name}`}
                      onClick={() => setDoomed(cluster)}
                    >
                      Delete
                    </Button>
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )}
      </div>
      {doomed && (
        <Confirm
          title={`Delete cluster ${doomed.name}?`}
          action="Delete cluster"
          run={() => client.call('DELETE', `${prefix}/clusters/${doomed.id}`).then(live.reload)}
          onClose={() => setDoomed(undefined)}
        >
          The service forgets the cluster, its {plural(doomed.total_host_count, 'host')}, its kubeconfig and its logs. Hosts that are installed keep
          running. Download the kubeconfig first if you need it.
        </Confirm>
      )}
    </PageSection>
  );
}
