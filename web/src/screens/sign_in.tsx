import { useState, type FormEvent } from 'react';
import { ActionGroup, Button, Content, Form, PageSection, Title } from '@patternfly/react-core';
import { Client, prefix, Refused } from '../api/client.ts';
import { CopyText, Field, Problem } from '../parts/basics.tsx';

export function SignInScreen({ onSignIn }: { onSignIn: (token: string) => void }) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<Refused>();
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await new Client(token.trim(), () => undefined).get(`${prefix}/clusters`);
      onSignIn(token.trim());
    } catch (why) {
      setProblem(why as Refused);
    }
  };
  return (
    <PageSection className="narrow" isFilled>
      <div className="stack">
        <Title headingLevel="h1">Sign in</Title>
        <Content component="p">
          The service asks for a token. The token of the administrator is in a file on the machine of the service, in the folder given with --state:
        </Content>
        <CopyText label="Command that prints the token" text="sudo cat /var/lib/slipway-assist/auth/admin-token" />
        <Form onSubmit={event => void signIn(event)}>
          <Field
            id="token"
            label="Token"
            isRequired
            isSecret
            value={token}
            onChange={setToken}
            help="The page keeps the token in this tab, until you close the tab or sign out."
          />
          <Problem title="The token was not accepted" problem={problem} />
          <ActionGroup>
            <Button type="submit" isDisabled={!token.trim()}>
              Sign in
            </Button>
          </ActionGroup>
        </Form>
      </div>
    </PageSection>
  );
}
