// Early answers about what a user writes. The service checks everything again and has the last word.

export function problemOfName(name: string): string {
  if (!name) return 'Enter a name.';
  if (name.length > 54) return `A name has at most 54 characters, this one has ${name.length}.`;
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) ? '' : "Use lower-case letters, digits and '-'. The first and the last are a letter or a digit.";
}

export function problemOfDomain(domain: string): string {
  if (!domain) return 'Enter a domain.';
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(domain) ? '' : 'This is not a domain, for example example.com.';
}

export function problemOfPullSecret(text: string): string {
  if (!text.trim()) return 'Paste a pull secret. If your registry needs no login, use {"auths":{}}.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'This is not JSON. Copy the whole pull secret, from { to }.';
  }
  const auths = typeof value === 'object' && value !== null ? (value as { auths?: unknown }).auths : undefined;
  return typeof auths === 'object' && auths !== null && !Array.isArray(auths) ? '' : "The JSON has no object 'auths'.";
}

export function problemOfAddress(text: string): string {
  if (!text) return '';
  const isV4 = /^(\d{1,3})(\.\d{1,3}){3}$/.test(text) && text.split('.').every(part => Number(part) <= 255);
  const isV6 = text.includes(':') && /^[0-9a-fA-F:.]+$/.test(text);
  return isV4 || isV6 ? '' : 'This is not an IP address.';
}

export function problemOfNetwork(text: string): string {
  const match = /^([0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(text);
  if (!match || problemOfAddress(match[1]!) || !match[1]) return 'This is not a network, for example 192.168.126.0/24.';
  return Number(match[2]) <= (match[1].includes(':') ? 128 : 32) ? '' : 'The part after the slash is too large.';
}

export function problemOfPrefix(text: string, network: string): string {
  const prefix = Number(text), least = Number(network.split('/')[1]);
  if (!/^\d+$/.test(text)) return 'Enter a number.';
  return prefix >= least ? '' : `The network of a node must be a part of ${network}: at least ${least}.`;
}
