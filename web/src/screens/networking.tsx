import { useState, type FormEvent } from 'react';
import { ActionGroup, Button, ExpandableSection, Form, FormGroup, FormSelect, FormSelectOption, Radio, Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { prefix, Refused } from '../api/client.ts';
import { inventoryOf, validationsOf } from '../api/parse.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster } from '../api/types.ts';
import { problemOfAddress, problemOfNetwork, problemOfPrefix } from '../logic/forms.ts';
import { mayChange, nameOf, roleText } from '../logic/states.ts';
import { plural } from '../logic/units.ts';
import { Field, Problem } from '../parts/basics.tsx';
import { Mark } from '../parts/gate.tsx';
import type { StepProps } from './cluster.tsx';

function NetworkForm({ cluster, reload }: { cluster: Cluster; reload: () => void }) {
  const client = useClient();
  const isFixed = !mayChange(cluster);
  const isSingleNode = cluster.control_plane_count === 1;
  const [isManaged, setManaged] = useState(!cluster.user_managed_networking);
  const [api, setApi] = useState(cluster.api_vips?.[0]?.ip ?? '');
  const [ingress, setIngress] = useState(cluster.ingress_vips?.[0]?.ip ?? '');
  const [machines, setMachines] = useState<string>();
  const [pods, setPods] = useState(cluster.cluster_networks?.[0]?.cidr ?? '');
  const [prefixText, setPrefix] = useState(String(cluster.cluster_networks?.[0]?.host_prefix ?? ''));
  const [services, setServices] = useState(cluster.service_networks?.[0]?.cidr ?? '');
  const [time, setTime] = useState(cluster.additional_ntp_source ?? '');
  const [problem, setProblem] = useState<Refused>();
  const [isSaved, setSaved] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const chosen = machines ?? '';
  const problems = {
    api: isManaged && !api ? 'Enter a free address of the machine network.' : problemOfAddress(api),
    ingress: isManaged && !ingress ? 'Enter a free address of the machine network.' : problemOfAddress(ingress),
    pods: problemOfNetwork(pods),
    prefix: problemOfPrefix(prefixText, pods),
    services: problemOfNetwork(services),
  };
  const isComplete = Object.values(problems).every(each => each === '');
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    try {
      await client.call('PATCH', `${prefix}/clusters/${cluster.id}`, {
        ...(isSingleNode ? {} : { user_managed_networking: !isManaged, api_vips: isManaged ? [{ ip: api }] : [], ingress_vips: isManaged ? [{ ip: ingress }] : [] }),
        cluster_networks: [{ cidr: pods, host_prefix: Number(prefixText) }],
        service_networks: [{ cidr: services }],
        additional_ntp_source: time,
        ...(machines === undefined ? {} : { machine_networks: chosen ? [{ cidr: chosen }] : [] }),
      });
      setProblem(undefined);
      setSaved(true);
      reload();
    } catch (why) {
      setProblem(why as Refused);
    }
  };
  const current = cluster.machine_networks.map(each => each.cidr).join(', ') || 'not known yet';
  return (
    <Form className="narrow" onSubmit={event => void save(event)}>
      {isSingleNode ? (
        <p>The API and applications have the address of the only node. Your DNS must resolve the names api, api-int and *.apps of {cluster.name}.{cluster.base_dns_domain} to it.</p>
      ) : (
        <FormGroup role="radiogroup" label="Addresses of the API and of applications" fieldId="managed" isStack>
          <Radio id="managed" name="managed" isDisabled={isFixed} label="Managed by the cluster" description="Two free addresses of the machine network move between the hosts." isChecked={isManaged} onChange={() => setManaged(true)} />
          <Radio id="user-managed" name="managed" isDisabled={isFixed} label="Load balancers of your own" description={`The names api, api-int and *.apps of ${cluster.name}.${cluster.base_dns_domain} lead to them.`} isChecked={!isManaged} onChange={() => setManaged(false)} />
        </FormGroup>
      )}
      {isManaged && (
        <>
          <Field id="api-vip" label="Address of the API" isRequired isDisabled={isFixed} value={api} onChange={setApi} problem={problems.api} help="A free address of the machine network, outside of the DHCP range." />
          <Field id="ingress-vip" label="Address of applications (ingress)" isRequired isDisabled={isFixed} value={ingress} onChange={setIngress} problem={problems.ingress} help="Another free address of the machine network." />
        </>
      )}
      <FormGroup label="Machine network" fieldId="machine-network">
        <FormSelect id="machine-network" isDisabled={isFixed} value={chosen} onChange={(_event, value) => setMachines(value)}>
          <FormSelectOption value="" label={`${isSingleNode ? "That of the node's default route" : 'That of the API address'} (now: ${current})`} />
          {cluster.host_networks.map(each => (
            <FormSelectOption key={each.cidr} value={each.cidr} label={`${each.cidr} (${plural(each.host_ids.length, 'host')})`} />
          ))}
        </FormSelect>
      </FormGroup>
      <Field id="ntp" label="NTP servers" isDisabled={isFixed} value={time} onChange={setTime} help="Optional. Names or addresses, separated by commas." />
      <ExpandableSection toggleText="Advanced networks" isExpanded={isOpen} onToggle={(_event, open) => setOpen(open)}>
        <div className="stack">
          <Field id="pods" label="Network of pods" isDisabled={isFixed} value={pods} onChange={setPods} problem={problems.pods} />
          <Field id="prefix" label="Prefix length of a node's part (bits)" isDisabled={isFixed} value={prefixText} onChange={setPrefix} problem={problems.prefix} />
          <Field id="services" label="Network of services" isDisabled={isFixed} value={services} onChange={setServices} problem={problems.services} />
          <p>Network type: {cluster.network_type ?? 'OVNKubernetes'}</p>
        </div>
      </ExpandableSection>
      <Problem title="The networks were not saved" problem={problem} />
      <ActionGroup>
        <Button type="submit" variant="secondary" isDisabled={isFixed || !isComplete}>
          Save networks
        </Button>
        <span role="status">{isSaved && 'The networks are saved.'}</span>
      </ActionGroup>
    </Form>
  );
}

export function NetworkingStep({ seen, reload }: StepProps) {
  const { cluster } = seen;
  const gate = seen.gates.find(each => each.step === 'networking');
  return (
    <section className="stack" aria-labelledby="networking-title">
      <Title headingLevel="h2" id="networking-title">
        Networking
      </Title>
      <NetworkForm cluster={cluster} reload={reload} />
      {cluster.hosts.length > 0 && (
        <Table aria-label="Networks of the hosts" gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              <Th>Host</Th>
              <Th>Role</Th>
              <Th>Interface</Th>
              <Th>Addresses</Th>
              <Th>MAC address</Th>
              <Th>Network checks</Th>
            </Tr>
          </Thead>
          <Tbody>
            {cluster.hosts.map(host => {
              const nics = inventoryOf(host)?.interfaces.filter(nic => nic.has_carrier) ?? [];
              const open = gate?.problems.filter(each => each.host_id === host.id) ?? [];
              const isKnown = validationsOf(host).length > 0;
              return (
                <Tr key={host.id}>
                  <Td dataLabel="Host">{nameOf(host)}</Td>
                  <Td dataLabel="Role">{roleText(host)}</Td>
                  <Td dataLabel="Interface">{nics.map(nic => nic.name).join(', ') || 'unknown'}</Td>
                  <Td dataLabel="Addresses">{nics.flatMap(nic => [...(nic.ipv4_addresses ?? []), ...(nic.ipv6_addresses ?? [])]).join(', ') || 'none'}</Td>
                  <Td dataLabel="MAC address">{nics.map(nic => nic.mac_address).join(', ')}</Td>
                  <Td dataLabel="Network checks">
                    {open.length === 0 && isKnown ? <Mark tone="success" text="all passed" /> : open.map(each => <div key={each.id}>{each.message}</div>)}
                  </Td>
                </Tr>
              );
            })}
          </Tbody>
        </Table>
      )}
    </section>
  );
}
