import { useState, type ReactNode } from 'react';
import {
  Alert, Button, EmptyState, EmptyStateBody, EmptyStateFooter, FormGroup, FormHelperText, HelperText, HelperTextItem, Label, Modal,
  ModalBody, ModalFooter, ModalHeader, Spinner, TextArea, TextInput,
} from '@patternfly/react-core';
import type { Refused } from '../api/client.ts';
import { toneOfCluster, toneOfHost, words } from '../logic/states.ts';

export const ClusterStatus = ({ status }: { status: string }) => <Label status={toneOfCluster(status)}>{words(status)}</Label>;
export const HostStatus = ({ status }: { status: string }) => <Label status={toneOfHost(status)}>{words(status)}</Label>;

export const Loading = ({ what }: { what: string }) => (
  <div className="loading">
    <Spinner aria-label={`Loading ${what}`} />
  </div>
);

export const Problem = ({ title, problem }: { title: string; problem: Refused | undefined }) =>
  problem ? (
    <Alert variant="danger" isInline title={title} component="p" aria-live="polite">
      {problem.message}
    </Alert>
  ) : null;

export function Disconnected({ isConnected }: { isConnected: boolean }) {
  return (
    <div role="status">
      {!isConnected && (
        <Alert variant="warning" isInline title="The connection to the service was lost" component="p">
          What you see may be old. The page connects again by itself.
        </Alert>
      )}
    </div>
  );
}

export const Empty = ({ title, children, actions }: { title: string; children: ReactNode; actions?: ReactNode }) => (
  <EmptyState titleText={title} headingLevel="h2" variant="lg">
    <EmptyStateBody>{children}</EmptyStateBody>
    {actions && <EmptyStateFooter>{actions}</EmptyStateFooter>}
  </EmptyState>
);

interface FieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  problem?: string; // '' or missing: none
  help?: string;
  isRequired?: boolean;
  isDisabled?: boolean;
  rows?: number; // more than one line
  isSecret?: boolean;
}

// A text field. Its problem is shown when the user has left it.
export function Field({ id, label, value, onChange, problem = '', help, isRequired, isDisabled, rows, isSecret }: FieldProps) {
  const [wasLeft, setLeft] = useState(false);
  const shown = wasLeft ? problem : '';
  const common = {
    id,
    value,
    isDisabled: isDisabled ?? false,
    isRequired: isRequired ?? false,
    validated: shown ? ('error' as const) : ('default' as const),
    'aria-describedby': `${id}-help`,
    onChange: (_event: unknown, text: string) => onChange(text),
    onBlur: () => setLeft(true),
  };
  return (
    <FormGroup label={label} fieldId={id} isRequired={isRequired ?? false}>
      {rows ? (
        <TextArea {...common} rows={rows} resizeOrientation="vertical" spellCheck={false} />
      ) : (
        <TextInput {...common} type={isSecret ? 'password' : 'text'} autoComplete="off" spellCheck={false} />
      )}
      <FormHelperText>
        <HelperText id={`${id}-help`} isLiveRegion>
          <HelperTextItem variant={shown ? 'error' : 'default'}>{shown || help}</HelperTextItem>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}

interface ConfirmProps {
  title: string;
  action: string; // the words on the button
  children: ReactNode; // what happens, and what is lost
  isDanger?: boolean;
  run: () => Promise<unknown>;
  onClose: () => void;
}

// Asks once before something that cannot be undone.
export function Confirm({ title, action, children, isDanger = true, run, onClose }: ConfirmProps) {
  const [problem, setProblem] = useState<Refused>();
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (why) {
      setProblem(why as Refused);
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="confirm-title" aria-describedby="confirm-text">
      <ModalHeader title={title} labelId="confirm-title" {...(isDanger ? { titleIconVariant: 'warning' as const } : {})} />
      <ModalBody id="confirm-text">
        {children}
        <Problem title="This was refused" problem={problem} />
      </ModalBody>
      <ModalFooter>
        <Button variant={isDanger ? 'danger' : 'primary'} isLoading={isBusy} isDisabled={isBusy} onClick={() => void act()}>
          {action}
        </Button>
        <Button variant="link" onClick={onClose}>
          Keep everything as it is
        </Button>
      </ModalFooter>
    </Modal>
  );
}

export function CopyText({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <div className="copy">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <Button variant="secondary" size="sm" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
