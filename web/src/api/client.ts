// Requests to the service. The token is a header of each request and is never part of a URL.

import { messageParser, type Message } from './sse.ts';

export const prefix = '/api/assisted-install/v2';

// An answer of 400 or more, or none at all. The message is a sentence of the service.
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function refusal(answer: Response): Promise<Refused> {
  const text = await answer.text();
  try {
    const body = JSON.parse(text) as { reason?: string; message?: string };
    return new Refused(answer.status, body.reason ?? body.message ?? text);
  } catch {
    return new Refused(answer.status, text || `the server answered with status ${answer.status}`);
  }
}

export class Client {
  constructor(
    private readonly token: string,
    private readonly onTokenRefused: () => void,
  ) {}

  private async send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token) headers.set('Authorization', `Bearer ${this.token}`);
    let answer: Response;
    try {
      answer = await fetch(path, { ...init, headers, cache: 'no-store' });
    } catch (problem) {
      if (init.signal?.aborted) throw problem;
      throw new Refused(0, 'the service does not answer: check that it runs and that this machine reaches it');
    }
    if (answer.status === 401) this.onTokenRefused();
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }

  async get<T>(path: string): Promise<T> {
    return (await this.send(path, {})).json() as Promise<T>;
  }

  async text(path: string): Promise<string> {
    return (await this.send(path, {})).text();
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T | undefined> {
    const init: RequestInit = { method };
    if (body !== undefined) Object.assign(init, { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
    const text = await (await this.send(path, init)).text();
    return text ? (JSON.parse(text) as T) : undefined;
  }

  // Gives the file to the user. The URL exists only while the browser takes it.
  async download(path: string, name: string): Promise<void> {
    const url = URL.createObjectURL(await (await this.send(path, {})).blob());
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  // Messages of a stream until the signal, the end of the stream, or an error.
  async listen(path: string, signal: AbortSignal, onMessage: (message: Message) => void, onOpen: () => void) {
    const answer = await this.send(path, { signal });
    onOpen();
    const parse = messageParser();
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      parse(value).forEach(onMessage);
    }
  }
}
