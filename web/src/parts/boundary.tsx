import { Component, type ReactNode } from 'react';
import { Button, PageSection } from '@patternfly/react-core';
import { Empty } from './basics.tsx';

interface Props {
  place: string; // another place is shown again
  children: ReactNode;
}

interface State {
  place: string;
  problem?: string | undefined;
}

// Without it, an error in one screen would empty the whole page.
export class Boundary extends Component<Props, State> {
  override state: State = { place: this.props.place };

  static getDerivedStateFromError(why: unknown): Partial<State> {
    return { problem: String(why) };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return props.place === state.place ? null : { place: props.place, problem: undefined };
  }

  override render() {
    if (this.state.problem === undefined) return this.props.children;
    return (
      <PageSection>
        <Empty title="This screen cannot be shown" actions={<Button onClick={() => location.reload()}>Reload the page</Button>}>
          {this.state.problem}. Other screens and the command line still work.
        </Empty>
      </PageSection>
    );
  }
}
