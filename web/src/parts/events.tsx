import { useMemo, useState } from 'react';
import { FormGroup, FormSelect, FormSelectOption, Label, TextInput } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { moment, plural } from '../logic/units.ts';
import { Empty } from './basics.tsx';

export interface ShownEvent {
  time: string;
  severity: 'info' | 'warning' | 'error' | 'critical';
  subject: string; // a host, or the cluster
  message: string;
}

const tones = { info: 'info', warning: 'warning', error: 'danger', critical: 'danger' } as const;
const mostShown = 500;

// Newest first, with filters.
export function Events({ events }: { events: ShownEvent[] }) {
  const [severity, setSeverity] = useState('');
  const [subject, setSubject] = useState('');
  const [text, setText] = useState('');
  const subjects = useMemo(() => [...new Set(events.map(event => event.subject))].sort(), [events]);
  const found = useMemo(() => {
    const wanted = text.toLowerCase();
    const fits = (event: ShownEvent) =>
      (!severity || event.severity === severity) && (!subject || event.subject === subject) && (!wanted || event.message.toLowerCase().includes(wanted));
    return events.filter(fits).reverse();
  }, [events, severity, subject, text]);
  if (events.length === 0) return <Empty title="No events yet">What happens to the cluster and its hosts is listed here, as it happens.</Empty>;
  return (
    <>
      <div className="filters" role="search" aria-label="Filter events">
        <FormGroup label="Severity" fieldId="event-severity">
          <FormSelect id="event-severity" value={severity} onChange={(_event, value) => setSeverity(value)}>
            <FormSelectOption value="" label="All" />
            {['info', 'warning', 'error', 'critical'].map(each => <FormSelectOption key={each} value={each} label={each} />)}
          </FormSelect>
        </FormGroup>
        <FormGroup label="About" fieldId="event-subject">
          <FormSelect id="event-subject" value={subject} onChange={(_event, value) => setSubject(value)}>
            <FormSelectOption value="" label="All" />
            {subjects.map(each => <FormSelectOption key={each} value={each} label={each} />)}
          </FormSelect>
        </FormGroup>
        <FormGroup label="Text" fieldId="event-text">
          <TextInput id="event-text" value={text} onChange={(_event, value) => setText(value)} />
        </FormGroup>
      </div>
      <p role="status">
        {plural(found.length, 'event')}
        {found.length > mostShown && `, the newest ${mostShown} are shown`}
      </p>
      <Table aria-label="Events" variant="compact" gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            <Th>Time</Th>
            <Th>Severity</Th>
            <Th>About</Th>
            <Th>Message</Th>
          </Tr>
        </Thead>
        <Tbody>
          {found.slice(0, mostShown).map((event, index) => (
            <Tr key={found.length - index}>
              <Td dataLabel="Time">{moment(event.time)}</Td>
              <Td dataLabel="Severity">
                <Label isCompact status={tones[event.severity]}>
                  {event.severity}
                </Label>
              </Td>
              <Td dataLabel="About">{event.subject}</Td>
              <Td dataLabel="Message">{event.message}</Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
    </>
  );
}
