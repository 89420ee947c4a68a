import { Content } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { groupsOf, waitText, type Timeline as Document, type TimelineItem } from '../logic/timeline.ts';
import { duration } from '../logic/units.ts';
import { Empty } from './basics.tsx';

const rowHeight = 22;

// The bars of one group. Text beside the drawing says the same to people who do not see it: the table below.
function Bars({ items, whole }: { items: TimelineItem[]; whole: number }) {
  const percent = (ms: number) => (100 * ms) / whole;
  return (
    <svg className="bars" height={items.length * rowHeight} width="100%" aria-hidden="true">
      {items.map((item, index) => {
        const kind = item.failed ? 'failed' : item.open ? 'open' : item.critical ? 'critical' : 'usual';
        const begin = percent(item.begin_ms), width = Math.max(percent(item.end_ms) - begin, 0.4);
        const isLate = begin > 60;
        return (
          <g key={item.key + index}>
            <rect className={kind} x={`${begin}%`} y={index * rowHeight + 4} width={`${width}%`} height={rowHeight - 8} rx="3" />
            <text x={`${begin}%`} dx={isLate ? -6 : 6} y={index * rowHeight + 15} textAnchor={isLate ? 'end' : 'start'}>
              {item.label}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function remarks(item: TimelineItem): string {
  return [item.failed && 'failed', item.open && 'not finished', item.critical && 'critical path'].filter(Boolean).join(', ');
}

export function Timeline({ timeline }: { timeline: Document | undefined }) {
  if (!timeline || timeline.items.length === 0) {
    return <Empty title="Nothing to show yet">The timeline begins with the installation.</Empty>;
  }
  const whole = Math.max(timeline.took_ms, 1);
  return (
    <>
      <Content component="p">
        {timeline.is_complete ? `The installation took ${duration(timeline.took_ms)}.` : `${duration(timeline.took_ms)} so far.`} The installation gets
        faster only if a step of the critical path does.
      </Content>
      <div className="timeline">
        {groupsOf(timeline).map(([group, items]) => (
          <section key={group}>
            <h3>{group}</h3>
            <Bars items={items} whole={whole} />
          </section>
        ))}
        <div className="scale" aria-hidden="true">
          <span>0 s</span>
          <span>{duration(whole / 2)}</span>
          <span>{duration(whole)}</span>
        </div>
      </div>
      <details>
        <summary>The same as a table</summary>
        <Table aria-label="Timeline" variant="compact" gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              <Th>Ended after</Th>
              <Th>Took</Th>
              <Th>What</Th>
              <Th>Waited for</Th>
              <Th>Remarks</Th>
            </Tr>
          </Thead>
          <Tbody>
            {timeline.items.map((item, index) => (
              <Tr key={item.key + index}>
                <Td dataLabel="Ended after">{duration(item.end_ms)}</Td>
                <Td dataLabel="Took">{duration(item.end_ms - item.begin_ms)}</Td>
                <Td dataLabel="What">
                  {item.label}
                  {item.detail && <small> {item.detail}</small>}
                </Td>
                <Td dataLabel="Waited for">{waitText(timeline, item) || 'nothing'}</Td>
                <Td dataLabel="Remarks">{remarks(item) || 'none'}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </details>
    </>
  );
}
