import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import {
  Button, FormSelect, FormSelectOption, Masthead, MastheadBrand, MastheadContent, MastheadMain, Page, PageSection, SkipToContent,
} from '@patternfly/react-core';
import { Client, Refused } from './api/client.ts';
import { forgetToken, SessionProvider, storedToken, storeToken } from './api/session.tsx';
import { hashOf, routeOf, type Route } from './logic/route.ts';
import { Empty, Loading, Problem } from './parts/basics.tsx';
import { Boundary } from './parts/boundary.tsx';
import { ClusterScreen } from './screens/cluster.tsx';
import { ClustersScreen } from './screens/clusters.tsx';
import { CreateScreen } from './screens/create.tsx';
import { HostScreen } from './screens/host.tsx';
import { SignInScreen } from './screens/sign_in.tsx';
import { WatchScreen } from './screens/watch.tsx';
import { chooseTheme, chosenTheme, type Theme } from './theme.ts';

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => {
      setHash(location.hash);
      document.getElementById('main')?.focus();
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return useMemo(() => routeOf(hash), [hash]);
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  const choose = (value: string) => {
    setTheme(value as Theme);
    chooseTheme(value as Theme);
  };
  return (
    <FormSelect className="theme" aria-label="Color theme" value={theme} onChange={(_event, value) => choose(value)}>
      <FormSelectOption value="system" label="System theme" />
      <FormSelectOption value="light" label="Light" />
      <FormSelectOption value="dark" label="Dark" />
    </FormSelect>
  );
}

function Frame({ children, onSignOut }: { children: ReactNode; onSignOut?: (() => void) | undefined }) {
  const skip = (
    <SkipToContent
      href="#main"
      onClick={event => {
        event.preventDefault();
        document.getElementById('main')?.focus();
      }}
    >
      Skip to content
    </SkipToContent>
  );
  const masthead = (
    <Masthead>
      <MastheadMain>
        <MastheadBrand>
          <a href="#/clusters" className="brand">
            <img src="/slipway.svg" alt="" width="28" height="28" /> slipway
          </a>
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent>
        <div className="tools">
          <ThemeChoice />
          {onSignOut && (
            <Button variant="secondary" onClick={onSignOut}>
              Sign out
            </Button>
          )}
        </div>
      </MastheadContent>
    </Masthead>
  );
  return (
    <Page masthead={masthead} skipToContent={skip} mainContainerId="main" isContentFilled>
      {children}
    </Page>
  );
}

function Screen({ route }: { route: Route }) {
  switch (route.screen) {
    case 'clusters':
      return <ClustersScreen />;
    case 'create':
      return <CreateScreen />;
    case 'cluster':
      return <ClusterScreen key={route.cluster} id={route.cluster} step={route.step} />;
    case 'host':
      return <HostScreen key={route.host} cluster={route.cluster} infraEnv={route.infraEnv} host={route.host} />;
    case 'unknown':
      return (
        <PageSection>
          <Empty title="There is no such page" actions={<a href={hashOf({ screen: 'clusters' })}>Show all clusters</a>}>
            The address may be misspelled, or the object was deleted.
          </Empty>
        </PageSection>
      );
  }
}

interface Server {
  kind: 'assisted' | 'watch';
  needs_token: boolean;
}

export function App() {
  const route = useRoute();
  const [server, setServer] = useState<Server>();
  const [problem, setProblem] = useState<Refused>();
  const [token, setToken] = useState(storedToken());
  const signOut = useCallback(() => {
    forgetToken();
    setToken('');
  }, []);
  const client = useMemo(() => new Client(token, signOut), [token, signOut]);
  useEffect(() => {
    client.get<Server>('/page.json').then(setServer, setProblem);
  }, [client]);

  if (!server) {
    return (
      <Frame>
        <PageSection>{problem ? <Problem title="The service cannot be reached" problem={problem} /> : <Loading what="the page" />}</PageSection>
      </Frame>
    );
  }
  if (server.needs_token && !token) {
    const signIn = (text: string) => {
      storeToken(text);
      setToken(text);
    };
    return (
      <Frame>
        <SignInScreen onSignIn={signIn} />
      </Frame>
    );
  }
  return (
    <SessionProvider value={client}>
      <Frame onSignOut={server.needs_token ? signOut : undefined}>
        <Boundary place={JSON.stringify(route)}>{server.kind === 'watch' ? <WatchScreen /> : <Screen route={route} />}</Boundary>
      </Frame>
    </SessionProvider>
  );
}
