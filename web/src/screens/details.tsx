import { useState, type FormEvent } from 'react';
import { ActionGroup, Button, DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Form, Title } from '@patternfly/react-core';
import { prefix, Refused } from '../api/client.ts';
import { useClient } from '../api/session.tsx';
import { problemOfDomain, problemOfPullSecret } from '../logic/forms.ts';
import { mayChange } from '../logic/states.ts';
import { moment } from '../logic/units.ts';
import { Field, Problem } from '../parts/basics.tsx';
import type { StepProps } from './cluster.tsx';

export function Facts({ facts }: { facts: [string, React.ReactNode][] }) {
  return (
    <DescriptionList isHorizontal isCompact>
      {facts.map(([name, value]) => (
        <DescriptionListGroup key={name}>
          <DescriptionListTerm>{name}</DescriptionListTerm>
          <DescriptionListDescription className="break">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  );
}

export function DetailsStep({ seen, reload }: StepProps) {
  const client = useClient();
  const { cluster } = seen;
  const isFixed = !mayChange(cluster);
  const [domain, setDomain] = useState(cluster.base_dns_domain ?? '');
  const [key, setKey] = useState(cluster.ssh_public_key ?? '');
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState<Refused>();
  const [isSaved, setSaved] = useState(false);
  const problems = { domain: problemOfDomain(domain), secret: secret ? problemOfPullSecret(secret) : '' };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    try {
      await client.call('PATCH', `${prefix}/clusters/${cluster.id}`, {
        base_dns_domain: domain,
        ssh_public_key: key,
        ...(secret ? { pull_secret: secret } : {}),
      });
      setProblem(undefined);
      setSecret('');
      setSaved(true);
      reload();
    } catch (why) {
      setProblem(why as Refused);
    }
  };
  return (
    <section className="narrow stack" aria-labelledby="details-title">
      <Title headingLevel="h2" id="details-title">
        Details of the cluster
      </Title>
      <Facts
        facts={[
          ['Name', cluster.name],
          ['Version', cluster.openshift_version],
          ['CPU architecture', cluster.cpu_architecture],
          ['Control plane', cluster.control_plane_count === 1 ? '1 host (single node)' : `${cluster.control_plane_count} hosts`],
          ['Pull secret', cluster.pull_secret_set ? 'set, not shown' : 'not set'],
          ['Created', moment(cluster.created_at)],
        ]}
      />
      <Form onSubmit={event => void save(event)}>
        <Field id="domain" label="Base domain" isRequired isDisabled={isFixed} value={domain} onChange={setDomain} problem={problems.domain} help={`The API gets the name api.${cluster.name}.${domain || 'DOMAIN'}.`} />
        <Field id="ssh-key" label="SSH public key" rows={2} isDisabled={isFixed} value={key} onChange={setKey} help="Optional. With it you can log in to the nodes as core." />
        <Field id="pull-secret" label="New pull secret" rows={3} isDisabled={isFixed} value={secret} onChange={setSecret} problem={problems.secret} help="Leave it empty to keep the pull secret." />
        <Problem title="The changes were not saved" problem={problem} />
        <ActionGroup>
          <Button type="submit" variant="secondary" isDisabled={isFixed || problems.domain !== '' || problems.secret !== ''}>
            Save changes
          </Button>
          <span role="status">{isSaved && 'The changes are saved.'}</span>
        </ActionGroup>
      </Form>
    </section>
  );
}
