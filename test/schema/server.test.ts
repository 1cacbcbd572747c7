import { expect, test } from 'vitest';
import { serverOf } from '../../src/schema/url.ts';

test.each([
  'http://localhost:8080/x',
  'http://127.0.0.1:8080',
  'http://127.1:8080',
  'http://[::1]:8080',
  'http://[::ffff:127.0.0.1]:8080',
  'http://0.0.0.0:8080',
  'http://LOCALHOST.:8080',
  'http://app.localhost:8080',
])('%s is this computer', (url) => expect(serverOf(url)).toBe('http://localhost:8080'));

test.each([
  ['https://licenses.example.com/base', 'https://licenses.example.com'],
  ['https://licenses.example.com.:443', 'https://licenses.example.com'],
  ['http://localhost:8081', 'http://localhost:8081'],
  ['http://128.0.0.1', 'http://128.0.0.1'],
  ['http://localhost.example.com', 'http://localhost.example.com'],
])('%s is %s', (url, server) => expect(serverOf(url)).toBe(server));
