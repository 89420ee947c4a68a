import { useState } from 'react';
import {
  Alert, Button, Checkbox, Form, FormSelect, FormSelectOption, Label, LabelGroup, Modal, ModalBody, ModalFooter, ModalHeader, Title,
} from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { prefix, Refused } from '../api/client.ts';
import { inventoryOf } from '../api/parse.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster, Host, InfraEnv } from '../api/types.ts';
import { problemOfPullSecret } from '../logic/forms.ts';
import { namesOf, problemOfPattern } from '../logic/names.ts';
import { hashOf } from '../logic/route.ts';
import { countsOf, isInstalling, mayChange, nameOf, roleText } from '../logic/states.ts';
import { cores, gibibytes, gigabytes, moment, plural } from '../logic/units.ts';
import { Confirm, CopyText, Empty, Field, HostStatus, Problem } from '../parts/basics.tsx';
import type { StepProps } from './cluster.tsx';

export const pathOf = (host: Host) => `${prefix}/infra-envs/${host.infra_env_id}/hosts/${host.id}`;

function AddHosts({ infraEnv, onClose }: { infraEnv: InfraEnv; onClose: () => void }) {
  const client = useClient();
  const [problem, setProblem] = useState<Refused>();
  const [image, setImage] = useState<{ url: string; expires_at?: string }>();
  const path = `${prefix}/infra-envs/${infraEnv.id}/downloads/files?file_name=discovery.ign`;
  const run = (work: Promise<unknown>) => void work.then(() => setProblem(undefined), (why: unknown) => setProblem(why as Refused));
  const getImage = () => run(client.get<{ url: string; expires_at?: string }>(`${prefix}/infra-envs/${infraEnv.id}/downloads/image-url`).then(setImage));
  const command = `curl -fsS --cacert DIR/tls/ca.crt -H "Authorization: Bearer $(sudo cat DIR/auth/admin-token)" \\\n  "${location.origin}${path}" -o discovery.ign`;
  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="add-title" aria-describedby="add-text">
      <ModalHeader title="Add hosts" labelId="add-title" />
      <ModalBody id="add-text">
        <div className="stack">
          <ol className="numbered">
            <li>Get the URL of the discovery image, and download the image. If the service has no live image, download the discovery config and boot a live image with it.</li>
            <li>Boot each machine once from the image. Let the machine start from its disk afterwards.</li>
            <li>The machine reports itself and appears in the table within a minute.</li>
          </ol>
          <p>Image and config contain a token that ends after 7 days, so keep them to yourself.</p>
          <div className="title-row">
            <div>
              <Button onClick={getImage}>Get the URL of the discovery image</Button>
              <Button variant="secondary" onClick={() => run(client.download(path, 'discovery.ign'))}>
                Download the discovery config
              </Button>
            </div>
          </div>
          {image && (
            <>
              <CopyText label="URL of the discovery image" text={image.url} />
              {image.expires_at && <p>The URL contains a token, too. It works until {moment(image.expires_at)}.</p>}
            </>
          )}
          <p>The config on the command line, where DIR is the folder of the service:</p>
          <CopyText label="Command that downloads the discovery config" text={command} />
          <Problem title="The service did not give this" problem={problem} />
        </div>
      </ModalBody>
      <ModalFooter>
        <Button variant="link" onClick={onClose}>
          Close
        </Button>
      </ModalFooter>
    </Modal>
  );
}

// A cluster without a discovery environment: a script made it, or the second request of this page failed.
function MakeInfraEnv({ cluster, reload }: { cluster: Cluster; reload: () => void }) {
  const client = useClient();
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState<Refused>();
  const make = () =>
    client
      .call('POST', `${prefix}/infra-envs`, { name: cluster.name, cluster_id: cluster.id, pull_secret: secret })
      .then(reload, (why: unknown) => setProblem(why as Refused));
  return (
    <Empty title="No discovery environment" actions={<Button isDisabled={problemOfPullSecret(secret) !== ''} onClick={() => void make()}>Create discovery environment</Button>}>
      <p>Hosts of this cluster need a discovery environment to report themselves in.</p>
      <Form>
        <Field id="env-secret" label="Pull secret" rows={3} isRequired value={secret} onChange={setSecret} problem={problemOfPullSecret(secret)} />
        <Problem title="The discovery environment was not created" problem={problem} />
      </Form>
    </Empty>
  );
}

function RenameHosts({ hosts, all, onClose, reload }: { hosts: Host[]; all: Host[]; onClose: () => void; reload: () => void }) {
  const client = useClient();
  const [pattern, setPattern] = useState(hosts.length === 1 ? nameOf(hosts[0]!) : 'host-{{n}}');
  const [problem, setProblem] = useState<Refused>();
  const taken = all.filter(each => !hosts.includes(each)).map(nameOf);
  const why = problemOfPattern(pattern, hosts.length, taken);
  const rename = async () => {
    try {
      const names = namesOf(pattern, hosts.length);
      for (const [index, host] of hosts.entries()) await client.call('PATCH', pathOf(host), { host_name: names[index] });
      reload();
      onClose();
    } catch (refused) {
      setProblem(refused as Refused);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="rename-title">
      <ModalHeader title={`Rename ${plural(hosts.length, 'host')}`} labelId="rename-title" />
      <ModalBody>
        <Form
          onSubmit={event => {
            event.preventDefault();
            if (!why) void rename();
          }}
        >
          <Field id="pattern" label="Name" isRequired value={pattern} onChange={setPattern} problem={why} help={why ? '' : `The new names: ${namesOf(pattern, hosts.length).join(', ')}`} />
          <Problem title="Not all hosts were renamed" problem={problem} />
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button isDisabled={why !== ''} onClick={() => void rename()}>
          Rename
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}

export function HostsStep({ seen, reload }: StepProps) {
  const client = useClient();
  const { cluster, infraEnvs } = seen;
  const [dialog, setDialog] = useState<'add' | 'rename' | 'remove'>();
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [problem, setProblem] = useState<Refused>();
  const hosts = cluster.hosts;
  const chosen = hosts.filter(host => selected.has(host.id));
  const counts = countsOf(hosts);
  const isFixed = !mayChange(cluster);
  const infraEnv = infraEnvs[0];
  const act = (work: Promise<unknown>) => void work.then(() => setProblem(undefined), (why: unknown) => setProblem(why as Refused)).then(reload);
  const setRole = (of: Host[], role: string) => act(Promise.all(of.map(host => client.call('PATCH', pathOf(host), { host_role: role }))));
  const close = () => setDialog(undefined);

  if (!infraEnv && hosts.length === 0) return <MakeInfraEnv cluster={cluster} reload={reload} />;
  const addButton = infraEnv && (
    <Button onClick={() => setDialog('add')} isDisabled={isInstalling(cluster)}>
      Add hosts
    </Button>
  );
  return (
    <section className="stack" aria-labelledby="hosts-title">
      <div className="title-row">
        <div>
          <Title headingLevel="h2" id="hosts-title">
            Hosts
          </Title>
          <LabelGroup aria-label="Numbers of hosts" numLabels={5}>
            <Label>{plural(counts.total, 'host')}</Label>
            <Label status="success">{counts.ready} ready</Label>
            <Label status={counts.notReady > 0 ? 'warning' : 'info'}>{counts.notReady} not ready</Label>
          </LabelGroup>
        </div>
        {hosts.length > 0 && addButton}
      </div>
      <Problem title="This was refused" problem={problem} />
      {cluster.status === 'adding-hosts' && (
        <Alert variant="info" isInline component="p" title="Hosts that are added now join the installed cluster">
          Approve their certificate requests in the cluster if no controller approves them: oc get csr.
        </Alert>
      )}
      {hosts.length === 0 && (
        <Empty title="No hosts yet" actions={addButton}>
          Boot each machine once from the discovery image of this cluster. The cluster needs{' '}
          {cluster.control_plane_count === 1 ? '1 host.' : `${plural(cluster.control_plane_count, 'host')} for its control plane; further hosts become workers.`}
        </Empty>
      )}
      {hosts.length > 0 && !isFixed && (
        <div className="bulk" role="group" aria-label={`${chosen.length} hosts are selected`}>
          <span>{plural(chosen.length, 'host')} selected</span>
          <FormSelect aria-label="Role of the selected hosts" value="" isDisabled={chosen.length === 0} onChange={(_event, role) => setRole(chosen, role)}>
            <FormSelectOption value="" label="Change role" isPlaceholder />
            <FormSelectOption value="auto-assign" label="Assign automatically" />
            <FormSelectOption value="master" label="Control plane" />
            <FormSelectOption value="worker" label="Worker" />
          </FormSelect>
          <Button variant="secondary" isDisabled={chosen.length === 0} onClick={() => setDialog('rename')}>
            Rename
          </Button>
          <Button variant="secondary" isDanger isDisabled={chosen.length === 0} onClick={() => setDialog('remove')}>
            Remove
          </Button>
        </div>
      )}
      {hosts.length > 0 && (
        <Table aria-label="Hosts" gridBreakPoint="grid-lg">
          <Thead>
            <Tr>
              <Th screenReaderText="Select" />
              <Th>Hostname</Th>
              <Th>Role</Th>
              <Th>Status</Th>
              <Th>Discovered</Th>
              <Th>CPU</Th>
              <Th>Memory</Th>
              <Th>Storage</Th>
              {cluster.status === 'adding-hosts' && <Th>Installation</Th>}
            </Tr>
          </Thead>
          <Tbody>
            {hosts.map(host => {
              const inventory = inventoryOf(host);
              const storage = inventory?.disks.reduce((sum, disk) => sum + (disk.size_bytes ?? 0), 0);
              const toggle = (isOn: boolean) => {
                const next = new Set(selected);
                if (isOn) next.add(host.id);
                else next.delete(host.id);
                setSelected(next);
              };
              return (
                <Tr key={host.id}>
                  <Td>
                    <Checkbox id={`select-${host.id}`} aria-label={`Select ${nameOf(host)}`} isDisabled={isFixed} isChecked={selected.has(host.id)} onChange={(_event, isOn) => toggle(isOn)} />
                  </Td>
                  <Td dataLabel="Hostname" className="break">
                    <a href={hashOf({ screen: 'host', cluster: cluster.id, infraEnv: host.infra_env_id, host: host.id })}>{nameOf(host)}</a>
                  </Td>
                  <Td dataLabel="Role">
                    {isFixed ? (
                      roleText(host)
                    ) : (
                      <FormSelect aria-label={`Role of ${nameOf(host)}`} value={host.role} onChange={(_event, role) => setRole([host], role)}>
                        <FormSelectOption value="auto-assign" label={`Automatic (${roleText({ ...host, role: 'auto-assign' }).toLowerCase()})`} />
                        <FormSelectOption value="master" label="Control plane" />
                        <FormSelectOption value="worker" label="Worker" />
                      </FormSelect>
                    )}
                  </Td>
                  <Td dataLabel="Status">
                    <HostStatus status={host.status} />
                    <small className="reason">
                      {host.status_info}
                      {host.status.startsWith('disconnected') && ` (since ${moment(host.status_updated_at)})`}
                    </small>
                  </Td>
                  <Td dataLabel="Discovered">{moment(host.created_at)}</Td>
                  <Td dataLabel="CPU">{cores(inventory?.cpu?.count)}</Td>
                  <Td dataLabel="Memory">{gibibytes(inventory?.memory?.physical_bytes)}</Td>
                  <Td dataLabel="Storage">{gigabytes(storage)}</Td>
                  {cluster.status === 'adding-hosts' && (
                    <Td dataLabel="Installation">
                      <Button variant="secondary" size="sm" isDisabled={host.status !== 'known'} onClick={() => act(client.call('POST', `${pathOf(host)}/actions/install`))}>
                        Install {nameOf(host)}
                      </Button>
                    </Td>
                  )}
                </Tr>
              );
            })}
          </Tbody>
        </Table>
      )}
      {dialog === 'add' && infraEnv && <AddHosts infraEnv={infraEnv} onClose={close} />}
      {dialog === 'rename' && <RenameHosts hosts={chosen} all={hosts} reload={reload} onClose={close} />}
      {dialog === 'remove' && (
        <Confirm
          title={`Remove ${plural(chosen.length, 'host')}?`}
          action="Remove"
          onClose={close}
          run={async () => {
            for (const host of chosen) await client.call('DELETE', pathOf(host));
            setSelected(new Set());
            reload();
          }}
        >
          The service forgets {chosen.map(nameOf).join(', ')} with their roles, disks and logs. A host that still runs the discovery image reports itself
          again.
        </Confirm>
      )}
    </section>
  );
}
