import { useState } from 'react';
import { Breadcrumb, BreadcrumbItem, Button, PageSection, Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { prefix, Refused } from '../api/client.ts';
import { useLive } from '../api/live.ts';
import { inventoryOf, timeSourcesOf, validationsOf } from '../api/parse.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster, Host, ServiceEvent } from '../api/types.ts';
import { hashOf } from '../logic/route.ts';
import { isInstalling, mayChange, nameOf, roleText } from '../logic/states.ts';
import { cores, gibibytes, gigabytes, moment, speed } from '../logic/units.ts';
import { Confirm, Disconnected, Empty, HostStatus, Loading, Problem } from '../parts/basics.tsx';
import { Events } from '../parts/events.tsx';
import { Checks } from '../parts/gate.tsx';
import { Facts } from './details.tsx';
import { pathOf } from './hosts.tsx';

const yesNo = (value: boolean | undefined) => (value === undefined ? 'unknown' : value ? 'yes' : 'no');
const resettable = ['sufficient-installation-disk-speed', 'container-images-available'];

function Disks({ host }: { host: Host }) {
  const disks = inventoryOf(host)?.disks ?? [];
  return (
    <Table aria-label="Disks" variant="compact" gridBreakPoint="grid-xl">
      <Thead>
        <Tr>
          <Th>Name</Th>
          <Th>Use</Th>
          <Th>Type</Th>
          <Th>Size</Th>
          <Th>Model</Th>
          <Th>Serial number</Th>
          <Th>WWN</Th>
          <Th>Can be installed on</Th>
        </Tr>
      </Thead>
      <Tbody>
        {disks.map(disk => (
          <Tr key={disk.id}>
            <Td dataLabel="Name">{disk.name}</Td>
            <Td dataLabel="Use">{disk.id === host.installation_disk_id ? 'installation disk' : 'not used'}</Td>
            <Td dataLabel="Type">{disk.drive_type ?? 'unknown'}</Td>
            <Td dataLabel="Size">{gigabytes(disk.size_bytes)}</Td>
            <Td dataLabel="Model">{disk.model || 'unknown'}</Td>
            <Td dataLabel="Serial number">{disk.serial || 'unknown'}</Td>
            <Td dataLabel="WWN">{disk.wwn || 'unknown'}</Td>
            <Td dataLabel="Can be installed on">{disk.installation_eligibility?.eligible === false ? `no: ${disk.installation_eligibility.not_eligible_reasons.join('; ')}` : 'yes'}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

function Nics({ host }: { host: Host }) {
  return (
    <Table aria-label="Network interfaces" variant="compact" gridBreakPoint="grid-lg">
      <Thead>
        <Tr>
          <Th>Name</Th>
          <Th>MAC address</Th>
          <Th>IPv4</Th>
          <Th>IPv6</Th>
          <Th>Speed</Th>
          <Th>MTU</Th>
          <Th>Cable connected</Th>
        </Tr>
      </Thead>
      <Tbody>
        {(inventoryOf(host)?.interfaces ?? []).map(nic => (
          <Tr key={nic.name}>
            <Td dataLabel="Name">{nic.name}</Td>
            <Td dataLabel="MAC address">{nic.mac_address ?? 'unknown'}</Td>
            <Td dataLabel="IPv4">{nic.ipv4_addresses?.join(', ') || 'none'}</Td>
            <Td dataLabel="IPv6">{nic.ipv6_addresses?.join(', ') || 'none'}</Td>
            <Td dataLabel="Speed">{speed(nic.speed_mbps)}</Td>
            <Td dataLabel="MTU">{nic.mtu ? `${nic.mtu} bytes` : 'unknown'}</Td>
            <Td dataLabel="Cable connected">{yesNo(nic.has_carrier)}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

export function HostScreen({ cluster: clusterId, infraEnv, host: hostId }: { cluster: string; infraEnv: string; host: string }) {
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Refused>();
  const live = useLive(`${prefix}/events/stream?cluster_id=${clusterId}&host_id=${hostId}&changes=true`, async () => {
    const [cluster, host, events] = await Promise.all([
      client.get<Cluster>(`${prefix}/clusters/${clusterId}`),
      client.get<Host>(`${prefix}/infra-envs/${infraEnv}/hosts/${hostId}`),
      client.get<ServiceEvent[]>(`${prefix}/events?cluster_id=${clusterId}&host_id=${hostId}`),
    ]);
    return { cluster, host, events };
  });
  const back = hashOf({ screen: 'cluster', cluster: clusterId, step: 'hosts' });
  if (!live.data) {
    return (
      <PageSection isFilled>
        {live.error ? (
          <Empty title="This host cannot be shown" actions={<a href={back}>Show the hosts of the cluster</a>}>
            {live.error.message}
          </Empty>
        ) : (
          <Loading what="the host" />
        )}
      </PageSection>
    );
  }
  const { cluster, host, events } = live.data;
  const inventory = inventoryOf(host);
  const vendor = inventory?.system_vendor;
  const checks = validationsOf(host);
  const again = checks.flatMap(([, each]) => each).filter(check => resettable.includes(check.id) && check.status === 'failure');
  const repeat = (id: string) =>
    void client.call('PATCH', `${pathOf(host)}/actions/reset-validation/${id}`).then(live.reload, (why: unknown) => setProblem(why as Refused));
  return (
    <PageSection isFilled>
      <div className="stack">
        <Breadcrumb>
          <BreadcrumbItem to="#/clusters">Clusters</BreadcrumbItem>
          <BreadcrumbItem to={back}>{cluster.name}</BreadcrumbItem>
          <BreadcrumbItem isActive>{nameOf(host)}</BreadcrumbItem>
        </Breadcrumb>
        <div className="title-row">
          <div>
            <Title headingLevel="h1">{nameOf(host)}</Title>
            <HostStatus status={host.status} />
          </div>
          <Button variant="secondary" isDanger isDisabled={isInstalling(cluster)} onClick={() => setAsking(true)}>
            Remove host
          </Button>
        </div>
        <p role="status">{host.status_info}</p>
        <Disconnected isConnected={live.isConnected} />
        <Problem title="The page cannot be brought up to date" problem={live.error} />
        <Problem title="This was refused" problem={problem} />
        <section className="stack" aria-labelledby="checks-title">
          <Title headingLevel="h2" id="checks-title">
            Checks
          </Title>
          {again.map(check => (
            <div key={check.id}>
              <Button variant="secondary" isDisabled={!mayChange(cluster)} onClick={() => repeat(check.id)}>
                Repeat the check: {check.message}
              </Button>
            </div>
          ))}
          <div className="cards">
            <Checks groups={checks} />
          </div>
        </section>
        <Title headingLevel="h2">Hardware</Title>
        {!inventory && <p>The host has not described its hardware yet. It does so within a minute after it has reported itself.</p>}
        {inventory && (
          <Facts
            facts={[
              ['Role', roleText(host)],
              ['Manufacturer', vendor?.manufacturer || 'unknown'],
              ['Product', vendor?.product_name || 'unknown'],
              ['Serial number', vendor?.serial_number || 'unknown'],
              ['Virtual machine', yesNo(vendor?.virtual)],
              ['BMC address', inventory.bmc_address || 'none'],
              ['Boot mode', inventory.boot?.current_boot_mode?.toUpperCase() || 'unknown'],
              ['TPM', inventory.tpm_version || 'none'],
              ['CPU', `${cores(inventory.cpu?.count)}, ${inventory.cpu?.architecture ?? 'unknown'}`],
              ['Memory', gibibytes(inventory.memory?.physical_bytes)],
              ['Time servers', timeSourcesOf(host).map(each => `${each.source_name} (${each.source_state.replaceAll('_', ' ')})`).join(', ') || 'none yet'],
              ['Routes', inventory.routes.map(each => `${each.destination} by ${each.gateway} (${each.interface})`).join(', ') || 'none'],
              ['Discovered', moment(host.created_at)],
              ['Last contact', moment(host.checked_in_at)],
              ['ID', host.id],
            ]}
          />
        )}
        {inventory && <Disks host={host} />}
        {inventory && <Nics host={host} />}
        <Title headingLevel="h2">Events of this host</Title>
        <Events events={events.map(event => ({ time: event.event_time, severity: event.severity, subject: nameOf(host), message: event.message }))} />
      </div>
      {isAsking && (
        <Confirm
          title={`Remove ${nameOf(host)}?`}
          action="Remove host"
          onClose={() => setAsking(false)}
          run={() =>
            client.call('DELETE', pathOf(host)).then(() => {
              location.hash = back;
            })
          }
        >
          The service forgets the host with its role, its disk and its logs. A host that still runs the discovery image reports itself again.
        </Confirm>
      )}
    </PageSection>
  );
}
