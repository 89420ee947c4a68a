import { createContext, useContext } from 'react';
import { Client } from './client.ts';

// The token is kept for this tab only, until it is closed, the user signs out, or the service refuses the token.
const key = 'slipway-token';
export const storedToken = () => sessionStorage.getItem(key) ?? '';
export const storeToken = (token: string) => sessionStorage.setItem(key, token);
export const forgetToken = () => sessionStorage.removeItem(key);

const Session = createContext<Client | undefined>(undefined);
export const SessionProvider = Session.Provider;

export function useClient(): Client {
  const client = useContext(Session);
  if (!client) throw new Error('no session');
  return client;
}
