// Names for several hosts at once: "{{n}}" becomes 1, 2, 3 and so on; "{{n:5}}" begins with 5.

const place = /\{\{n(?::(\d{1,4}))?\}\}/;
const valid = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

export function namesOf(pattern: string, count: number): string[] {
  const begin = Number(place.exec(pattern)?.[1] ?? 1);
  return Array.from({ length: count }, (_, index) => pattern.replace(place, String(begin + index)));
}

// Why the pattern cannot be used; '' if it can.
export function problemOfPattern(pattern: string, count: number, taken: string[]): string {
  if (!pattern) return 'Enter a name.';
  if (count > 1 && !place.test(pattern)) return 'Write {{n}} where the number of the host is to be.';
  const names = namesOf(pattern, count);
  const wrong = names.find(name => name.length > 253 || !valid.test(name));
  if (wrong !== undefined) return `'${wrong}' is not a host name: use lower-case letters, digits, '-' and '.'.`;
  const twice = names.find(name => taken.includes(name));
  return twice === undefined ? '' : `Another host has the name ${twice} already.`;
}
