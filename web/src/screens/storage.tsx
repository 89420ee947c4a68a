import { useState } from 'react';
import { Alert, FormSelect, FormSelectOption, Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { Refused } from '../api/client.ts';
import { inventoryOf } from '../api/parse.ts';
import { useClient } from '../api/session.tsx';
import type { Disk, Host } from '../api/types.ts';
import { mayChange, nameOf, roleText } from '../logic/states.ts';
import { gigabytes } from '../logic/units.ts';
import { Empty, Problem } from '../parts/basics.tsx';
import type { StepProps } from './cluster.tsx';
import { pathOf } from './hosts.tsx';

export const diskText = (disk: Disk) => [disk.name, gigabytes(disk.size_bytes), disk.drive_type, disk.model].filter(Boolean).join(', ');
export const diskOf = (host: Host) => inventoryOf(host)?.disks.find(disk => disk.id === host.installation_disk_id);

export function StorageStep({ seen, reload }: StepProps) {
  const client = useClient();
  const [problem, setProblem] = useState<Refused>();
  const { cluster } = seen;
  if (cluster.hosts.length === 0) return <Empty title="No hosts yet">Add hosts first. Then you choose here the disk of each host.</Empty>;
  const choose = (host: Host, id: string) =>
    client
      .call('PATCH', pathOf(host), { disks_selected_config: [{ id, role: 'install' }] })
      .then(() => setProblem(undefined), (why: unknown) => setProblem(why as Refused))
      .then(reload);
  return (
    <section className="stack" aria-labelledby="storage-title">
      <Title headingLevel="h2" id="storage-title">
        Installation disks
      </Title>
      <Alert variant="warning" isInline component="p" title="Everything on an installation disk is lost when the installation begins">
        Other disks are not changed.
      </Alert>
      <Problem title="The disk was not changed" problem={problem} />
      <Table aria-label="Installation disks" gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            <Th>Host</Th>
            <Th>Role</Th>
            <Th>Installation disk</Th>
            <Th>Disks that cannot be used</Th>
          </Tr>
        </Thead>
        <Tbody>
          {cluster.hosts.map(host => {
            const disks = inventoryOf(host)?.disks ?? [];
            const usable = disks.filter(disk => disk.installation_eligibility?.eligible !== false);
            const others = disks.filter(disk => disk.installation_eligibility?.eligible === false);
            return (
              <Tr key={host.id}>
                <Td dataLabel="Host">{nameOf(host)}</Td>
                <Td dataLabel="Role">{roleText(host)}</Td>
                <Td dataLabel="Installation disk">
                  {usable.length === 0 ? (
                    'none of the disks can be used'
                  ) : (
                    <FormSelect
                      aria-label={`Installation disk of ${nameOf(host)}`}
                      isDisabled={!mayChange(cluster)}
                      value={host.installation_disk_id ?? ''}
                      onChange={(_event, id) => void choose(host, id)}
                    >
                      {usable.map(disk => <FormSelectOption key={disk.id} value={disk.id} label={diskText(disk)} />)}
                    </FormSelect>
                  )}
                </Td>
                <Td dataLabel="Disks that cannot be used">
                  {others.length === 0 && 'none'}
                  {others.map(disk => (
                    <div key={disk.id}>
                      {diskText(disk)}: {disk.installation_eligibility?.not_eligible_reasons.join('; ')}
                    </div>
                  ))}
                </Td>
              </Tr>
            );
          })}
        </Tbody>
      </Table>
    </section>
  );
}
