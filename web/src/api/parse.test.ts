import { expect, test } from 'vitest';
import { timeSourcesOf } from './parse.ts';
import type { Host } from './types.ts';

test('time sources are shown whatever the host sent', () => {
  const unknown = { source_name: 'unknown', source_state: 'unknown' };
  const rows: [sent: unknown, shown: object[]][] = [
    [[{ source_name: 'a', source_state: 'synced' }], [{ source_name: 'a', source_state: 'synced' }]],
    [[{ source_name: {} }, null, 'x'], [unknown, unknown, unknown]],
    [{ length: 1 }, []],
    [null, []],
  ];
  for (const [sent, shown] of rows) expect(timeSourcesOf({ ntp_sources: JSON.stringify(sent) } as Host)).toEqual(shown);
  expect(timeSourcesOf({ ntp_sources: 'no JSON' } as Host)).toEqual([]);
});
