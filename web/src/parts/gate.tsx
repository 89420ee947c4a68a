import { Alert, Button, List, ListItem } from '@patternfly/react-core';
import type { Cluster, Gate, GateProblem } from '../api/types.ts';
import { hashOf, type Step } from '../logic/route.ts';
import { nameOf, words } from '../logic/states.ts';

// The steps of the page that have a gate, in their order.
export const gatedSteps: { step: Step; gate: string; title: string }[] = [
  { step: 'details', gate: 'cluster-details', title: 'Details' },
  { step: 'hosts', gate: 'host-discovery', title: 'Hosts' },
  { step: 'storage', gate: 'storage', title: 'Storage' },
  { step: 'networking', gate: 'networking', title: 'Networking' },
  { step: 'review', gate: 'review', title: 'Review' },
];

export function ProblemList({ cluster, problems }: { cluster: Cluster; problems: GateProblem[] }) {
  return (
    <List>
      {problems.map(each => {
        const host = cluster.hosts.find(one => one.id === each.host_id);
        const link = host && hashOf({ screen: 'host', cluster: cluster.id, infraEnv: host.infra_env_id, host: host.id });
        return (
          <ListItem key={`${each.host_id} ${each.id}`}>
            {host && link ? <a href={link}>{nameOf(host)}</a> : 'Cluster'}: {each.message}
            {each.status === 'pending' && ' (not known yet)'}
          </ListItem>
        );
      })}
    </List>
  );
}

// What keeps the user on this step, and the way to the next one.
export function GateFooter({ cluster, gates, step }: { cluster: Cluster; gates: Gate[]; step: Step }) {
  const index = gatedSteps.findIndex(each => each.step === step);
  const gate = gates.find(each => each.step === gatedSteps[index]?.gate);
  const next = gatedSteps[index + 1];
  if (!gate || !next) return null;
  const hasHosts = cluster.hosts.length > 0;
  return (
    <section className="stack" aria-label="Next step">
      {gate.problems.length > 0 && hasHosts && (
        <Alert variant="info" isInline component="h2" title="Before you go on">
          <ProblemList cluster={cluster} problems={gate.problems} />
        </Alert>
      )}
      {gate.warnings.length > 0 && (
        <Alert variant="warning" isInline component="h2" title="Warnings: they do not stop you">
          <ProblemList cluster={cluster} problems={gate.warnings} />
        </Alert>
      )}
      <div>
        <Button
          isDisabled={!gate.is_open}
          onClick={() => {
            location.hash = hashOf({ screen: 'cluster', cluster: cluster.id, step: next.step });
          }}
        >
          Next: {next.title}
        </Button>
      </div>
    </section>
  );
}

export function Checks({ groups }: { groups: [string, { id: string; status: string; message: string; weight: string }[]][] }) {
  const tone = { success: 'success', failure: 'danger', pending: 'info', disabled: 'warning' } as const;
  const text = { success: 'passed', failure: 'failed', pending: 'not known yet', disabled: 'ignored' } as const;
  return (
    <>
      {groups.map(([category, checks]) => (
        <section key={category}>
          <h3>{words(category)}</h3>
          <List isPlain>
            {checks.map(check => {
              const status = check.status as keyof typeof tone;
              const shown = check.status === 'failure' && check.weight === 'warning' ? 'warning' : tone[status];
              return (
                <ListItem key={check.id}>
                  <Mark tone={shown} text={shown === 'warning' && check.status === 'failure' ? 'warning' : text[status]} /> {check.message}
                </ListItem>
              );
            })}
          </List>
        </section>
      ))}
    </>
  );
}

// A sign for the eye, and a word for everyone.
export function Mark({ tone, text }: { tone: 'success' | 'danger' | 'info' | 'warning'; text: string }) {
  const sign = { success: '✓', danger: '✕', info: '…', warning: '!' }[tone];
  return (
    <span className={`mark ${tone}`}>
      <span aria-hidden="true">{sign}</span> {text}
    </span>
  );
}
