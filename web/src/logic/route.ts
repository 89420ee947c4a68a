// The part of the address after '#': which screen is shown. It contains IDs and never a secret.

export const steps = ['details', 'hosts', 'storage', 'networking', 'review', 'installation', 'events'] as const;
export type Step = (typeof steps)[number];

export type Route =
  | { screen: 'clusters' }
  | { screen: 'create' }
  | { screen: 'cluster'; cluster: string; step?: Step }
  | { screen: 'host'; cluster: string; infraEnv: string; host: string }
  | { screen: 'unknown' };

const isId = (text: string | undefined): text is string => /^[0-9a-f-]{36}$/.test(text ?? '');

export function routeOf(hash: string): Route {
  const [first, second, third, ...more] = hash.replace(/^#?\/?/, '').split('/');
  if (!first) return { screen: 'clusters' };
  if (first !== 'clusters') return { screen: 'unknown' };
  if (!second) return { screen: 'clusters' };
  if (second === 'new' && !third) return { screen: 'create' };
  if (!isId(second)) return { screen: 'unknown' };
  if (!third) return { screen: 'cluster', cluster: second };
  if (third === 'hosts' && isId(more[0]) && isId(more[1])) return { screen: 'host', cluster: second, infraEnv: more[0], host: more[1] };
  const step = steps.find(each => each === third);
  return step && more.length === 0 ? { screen: 'cluster', cluster: second, step } : { screen: 'unknown' };
}

export function hashOf(route: Route): string {
  switch (route.screen) {
    case 'create':
      return '#/clusters/new';
    case 'cluster':
      return `#/clusters/${route.cluster}${route.step ? `/${route.step}` : ''}`;
    case 'host':
      return `#/clusters/${route.cluster}/hosts/${route.infraEnv}/${route.host}`;
    default:
      return '#/clusters';
  }
}
