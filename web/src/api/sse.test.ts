import { expect, test } from 'vitest';
import { messageParser } from './sse.ts';

const stream = ': events\n\nid: 7\nevent: host_status_updated\ndata: {"a":1}\n\n:\n\nevent: change\ndata: {}\n\ndata: one\ndata: two\r\n\n';
const messages = [
  { id: '7', event: 'host_status_updated', data: '{"a":1}' },
  { event: 'change', data: '{}' },
  { event: 'message', data: 'one\ntwo' },
];

test('messages are the same wherever the stream is cut', () => {
  for (let size = 1; size <= stream.length; ++size) {
    const parse = messageParser();
    const found = [];
    for (let at = 0; at < stream.length; at += size) found.push(...parse(stream.slice(at, at + size)));
    expect(found, `pieces of ${size}`).toEqual(messages);
  }
});

test('a message without its end is not taken', () => {
  expect(messageParser()('id: 1\ndata: x\n')).toEqual([]);
});
