// The format of server-sent events. A parser is fed with pieces of a stream, wherever they are cut.

export interface Message {
  id?: string;
  event: string;
  data: string;
}

export function messageParser(): (piece: string) => Message[] {
  let rest = '';
  let id: string | undefined;
  let event = 'message';
  let data: string[] = [];
  return piece => {
    const found: Message[] = [];
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '') {
        if (data.length > 0) found.push({ ...(id === undefined ? {} : { id }), event, data: data.join('\n') });
        id = undefined;
        event = 'message';
        data = [];
        continue;
      }
      if (line.startsWith(':')) continue;
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'id') id = value;
      if (field === 'event') event = value;
      if (field === 'data') data.push(value);
    }
    return found;
  };
}
