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

export function timeSourcesOf(host: Host): { source_name: string; source_state: string }[] {
  return parsed(host.ntp_sources, []);
}
