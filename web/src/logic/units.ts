// Numbers with their units.

export const gibibytes = (bytes: number | undefined) => (bytes === undefined ? 'unknown' : `${trim(bytes / 2 ** 30)} GiB`);

// Disks are sold in powers of ten.
export function gigabytes(bytes: number | undefined): string {
  if (bytes === undefined) return 'unknown';
  return bytes >= 1e12 ? `${trim(bytes / 1e12)} TB` : `${trim(bytes / 1e9)} GB`;
}

export const cores = (count: number | undefined) => (count === undefined ? 'unknown' : count === 1 ? '1 core' : `${count} cores`);

export const speed = (mbps: number | undefined) =>
  !mbps || mbps < 0 ? 'unknown' : mbps >= 1000 ? `${trim(mbps / 1000)} Gbit/s` : `${mbps} Mbit/s`;

function trim(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '');
}

// "850 ms", "9.3 s", "3 min 5 s", "2 h 4 min"
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function moment(time: string | undefined): string {
  if (!time) return 'unknown';
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(time));
}

export const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
