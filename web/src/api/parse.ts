import type { Host, Inventory, Validation } from './types.ts';

// The API keeps some objects as JSON in a string.
function parsed<T>(text: string | undefined, otherwise: T): T {
  if (!text) return otherwise;
  try {
    return JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}

// Lists are never missing.
export function inventoryOf(host: Host): Inventory | undefined {
  const found = parsed<Inventory | undefined>(host.inventory, undefined);
  return found && { ...found, disks: found.disks ?? [], interfaces: found.interfaces ?? [], routes: found.routes ?? [] };
}

export function validationsOf(subject: { validations_info: string }): [category: string, checks: Validation[]][] {
  return Object.entries(parsed<Record<string, Validation[]>>(subject.validations_info, {}));
}

// The service keeps what the host sent, whatever it is.
export function timeSourcesOf(host: Host): { source_name: string; source_state: string }[] {
  const found = parsed<unknown>(host.ntp_sources, []);
  const text = (value: unknown) => (typeof value === 'string' && value ? value : 'unknown');
  return (Array.isArray(found) ? found : []).map((each: { source_name?: unknown; source_state?: unknown } | null) => ({
    source_name: text(each?.source_name),
    source_state: text(each?.source_state),
  }));
}
