// Documents that follow their changes: they are read at the beginning, after each message of a stream, and when a lost connection
// is back. Nothing is read at intervals.

import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient } from './session.tsx';
import { Refused } from './client.ts';

const shortestPause = 200; // ms between two reads
const longestRetry = 10_000; // ms

export interface Live<T> {
  data: T | undefined;
  error: Refused | undefined;
  isConnected: boolean; // to the stream; true at the beginning
  reload: () => void;
}

// stream: path of a stream of server-sent events. load must not change while the stream is the same.
export function useLive<T>(stream: string, load: () => Promise<T>): Live<T> {
  const client = useClient();
  const [data, setData] = useState<T>();
  const [error, setError] = useState<Refused>();
  const [isConnected, setConnected] = useState(true);
  const loading = useRef(load);
  loading.current = load;
  const state = useRef({ isRunning: false, isWanted: false });

  const reload = useCallback(() => {
    const now = state.current;
    now.isWanted = true;
    if (now.isRunning) return;
    now.isRunning = true;
    void (async () => {
      while (now.isWanted) {
        now.isWanted = false;
        const begun = performance.now();
        try {
          setData(await loading.current());
          setError(undefined);
        } catch (problem) {
          setError(problem instanceof Refused ? problem : new Refused(0, String(problem)));
        }
        // Large documents that change all the time take half of the time at most.
        await new Promise(done => setTimeout(done, Math.max(shortestPause, performance.now() - begun)));
      }
      now.isRunning = false;
    })();
  }, []);

  useEffect(() => {
    const stop = new AbortController();
    void (async () => {
      let pause = 500;
      while (!stop.signal.aborted) {
        try {
          await client.listen(stream, stop.signal, reload, () => {
            pause = 500;
            setConnected(true);
            reload();
          });
        } catch (problem) {
          if (stop.signal.aborted) return;
          if (problem instanceof Refused && problem.status >= 400 && problem.status < 500) {
            setError(problem);
            return;
          }
        }
        if (stop.signal.aborted) return;
        setConnected(false);
        await new Promise(done => setTimeout(done, pause * (0.75 + Math.random() / 2)));
        pause = Math.min(pause * 2, longestRetry);
      }
    })();
    return () => stop.abort();
  }, [client, stream, reload]);

  return { data, error, isConnected, reload };
}
