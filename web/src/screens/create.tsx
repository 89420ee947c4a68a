import { useEffect, useState, type FormEvent } from 'react';
import { ActionGroup, Breadcrumb, BreadcrumbItem, Button, Form, FormGroup, FormSelect, FormSelectOption, PageSection, Radio, Title } from '@patternfly/react-core';
import { prefix, Refused } from '../api/client.ts';
import { useClient } from '../api/session.tsx';
import type { Cluster } from '../api/types.ts';
import { problemOfDomain, problemOfName, problemOfPullSecret } from '../logic/forms.ts';
import { hashOf } from '../logic/route.ts';
import { Field, Problem } from '../parts/basics.tsx';

export function CreateScreen() {
  const client = useClient();
  const [versions, setVersions] = useState<string[]>([]);
  const [name, setName] = useState('');
  const [domain, setDomain] = useState('');
  const [version, setVersion] = useState('');
  const [masters, setMasters] = useState(3);
  const [secret, setSecret] = useState('');
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<Refused>();
  const [made, setMade] = useState<string>(); // the cluster, if only the second request failed
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    client.get<Record<string, { default?: boolean }>>(`${prefix}/openshift-versions`).then(found => {
      setVersions(Object.keys(found));
      setVersion(Object.entries(found).find(([, each]) => each.default)?.[0] ?? Object.keys(found)[0] ?? '');
    }, setProblem);
  }, [client]);

  const problems = { name: problemOfName(name), domain: problemOfDomain(domain), secret: problemOfPullSecret(secret) };
  const isComplete = !problems.name && !problems.domain && !problems.secret && version !== '';

  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      let id = made;
      if (!id) {
        const cluster = await client.call<Cluster>('POST', `${prefix}/clusters`, {
          name,
          base_dns_domain: domain,
          openshift_version: version,
          control_plane_count: masters,
          pull_secret: secret,
          ...(key ? { ssh_public_key: key } : {}),
        });
        id = cluster!.id;
        setMade(id);
      }
      await client.call('POST', `${prefix}/infra-envs`, {
        name,
        cluster_id: id,
        pull_secret: secret,
        ...(key ? { ssh_authorized_key: key } : {}),
      });
      location.hash = hashOf({ screen: 'cluster', cluster: id, step: 'hosts' });
    } catch (why) {
      setProblem(why as Refused);
      setBusy(false);
    }
  };

  return (
    <PageSection className="narrow" isFilled>
      <div className="stack">
        <Breadcrumb>
          <BreadcrumbItem to="#/clusters">Clusters</BreadcrumbItem>
          <BreadcrumbItem isActive>Create cluster</BreadcrumbItem>
        </Breadcrumb>
        <Title headingLevel="h1">Create cluster</Title>
        <Form onSubmit={event => void create(event)}>
          <Field id="name" label="Name" isRequired value={name} onChange={setName} problem={problems.name} help="The first part of the cluster's domain." />
          <Field
            id="domain"
            label="Base domain"
            isRequired
            value={domain}
            onChange={setDomain}
            problem={problems.domain}
            help={`The API gets the name api.${name || 'NAME'}.${domain || 'DOMAIN'}.`}
          />
          <FormGroup label="Version" fieldId="version">
            <FormSelect id="version" value={version} onChange={(_event, value) => setVersion(value)}>
              {versions.map(each => <FormSelectOption key={each} value={each} label={each} />)}
            </FormSelect>
          </FormGroup>
          <FormGroup role="radiogroup" label="Control plane" fieldId="masters" isStack>
            <Radio id="masters-3" name="masters" label="3 hosts" description="The cluster survives the loss of one host." isChecked={masters === 3} onChange={() => setMasters(3)} />
            <Radio id="masters-1" name="masters" label="1 host" description="A single node without workers. Its loss is the loss of the cluster. Workers can be added when it is installed." isChecked={masters === 1} onChange={() => setMasters(1)} />
          </FormGroup>
          <Field
            id="pull-secret"
            label="Pull secret"
            isRequired
            rows={4}
            value={secret}
            onChange={setSecret}
            problem={problems.secret}
            help="JSON with the logins of the registries from which images come. It is never shown again."
          />
          <Field id="ssh-key" label="SSH public key" rows={2} value={key} onChange={setKey} help="Optional. With it you can log in to the hosts as core." />
          <Problem title={made ? 'The cluster was created, its discovery environment was not' : 'The cluster was not created'} problem={problem} />
          <ActionGroup>
            <Button type="submit" isDisabled={!isComplete || isBusy} isLoading={isBusy}>
              Create cluster
            </Button>
            <Button variant="link" component="a" href="#/clusters">
              Cancel
            </Button>
          </ActionGroup>
        </Form>
      </div>
    </PageSection>
  );
}
